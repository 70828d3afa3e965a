"""Which files of two folders belong together: every output of every PE, and the golden of each.

An operator may write several results.  A file's name says which it is and whose: ``output_pe0.bin``, ``expand_x_0.bin``,
``k_cache_output_pe_1.bin``; its golden has the same name with ``golden`` in it, or lies in the PE's own folder
(``rank_0/golden_expand_x.bin``).  What fits none of this is named, never passed over: an output nobody judges is no pass.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from opdev.precision.judge import Pair
from opdev.precision.texts import PrecisionError, both

SUFFIXES = (".bin", ".npy", ".pt", ".pth")
_PE = re.compile(r"(?:\A|[_\-.])(?:pe|rank)[_\-]?(\d{1,4})\Z", re.IGNORECASE)
_NUMBER = re.compile(r"[_\-](\d{1,4})\Z")
_FOLDER = re.compile(r"(?:pe|rank)[_\-]?(\d{1,4})\Z", re.IGNORECASE)
_WORDS = re.compile(r"[_\-.]+")
_OUTPUT, _GOLDEN = frozenset({"output", "outputs"}), frozenset({"golden"})
_OTHERS = {"input", "inputs", "plan", "golden", "expected", "torch"}
"""Words in the names of files that are no results of the operator."""
_MOST = 20000


@dataclass(frozen=True)
class Found:
    """A file: ``name`` is which of several results it is (empty for the only one), ``pe`` None where it is no PE's own."""

    path: str
    name: str
    pe: int | None
    said: bool
    """Whether its name says that it is an output (or a golden)."""


Table = dict[tuple[str, int | None], Found]
"""Files by name and PE."""


def pe_of(path: str) -> int | None:
    """The PE that a file's name says."""
    match = _PE.search(_stem(path))
    return int(match[1]) if match else None


def folders(
    output: str, golden: str, reference: Callable[[str, int | None], str | None], pes: int | None
) -> list[Pair]:
    """The pairs of two folders, by PE and name.

    With ``pes`` a file that is missing is in its pair all the same, and cannot be judged there.  PrecisionError names the
    file where without ``pes`` a PE is left out, an output has no golden, a golden no output, two files are the same result,
    or a name says nothing.
    """
    goldens = _goldens(golden, said_only=_same(output, golden))
    known = {one.name for one in goldens.values()}
    found, unjudged = _outputs(output, known, same=_same(output, golden))
    if not found:
        raise PrecisionError("no-pairs", path=output)
    names = sorted({name for name, _ in found})
    alone = len(names) == 1 and known <= {""}
    for name in sorted(known - {"" if alone else name for name in names}):
        path = next(one.path for one in goldens.values() if one.name == name)
        raise PrecisionError("golden-alone", path=path, folder=output)
    single = all(pe is None for _, pe in found)
    wanted: Sequence[int | None] = [None] if single else range(pes if pes is not None else _count(found, goldens))
    notes = (both("n-unjudged", paths=", ".join(map(os.path.basename, unjudged[:5]))),) if unjudged else ()
    pairs: list[Pair] = []
    for pe in wanted:
        for name in names:
            called = "" if alone else name
            one = found.get((name, pe))
            if one is None and pes is None:
                raise _gap(output, found, name, pe or 0)
            path = one.path if one is not None else _missing(found, name, pe)
            own = goldens.get((called, pe)) or goldens.get((called, None))
            if own is None and pes is None:
                raise PrecisionError("output-alone", path=path, folder=golden, name=_wanted(called, pe))
            theirs = own.path if own is not None else f"{golden}/{_wanted(called, pe)}"
            label = os.path.basename(path) if pe is None else f"PE {pe}[{name}]" if len(names) > 1 else f"PE {pe}"
            pairs.append(Pair(label, path, theirs, pe, reference(path, pe), notes=() if pairs else notes, which=name))
    return pairs


def one_each(output: str, pes: int | None) -> list[tuple[int, str]]:
    """(PE, path) of a folder with one result of each PE; PrecisionError where it has several, or a PE is left out."""
    found, _ = _outputs(output, set(), same=False)
    if not found or all(pe is None for _, pe in found):
        raise PrecisionError("no-pairs", path=output)
    names = sorted({name for name, _ in found})
    if len(names) > 1:
        raise PrecisionError("several-names", path=output, names=", ".join(names[:5]))
    out = []
    for pe in range(pes if pes is not None else _count(found, {})):
        one = found.get((names[0], pe))
        if one is None:
            raise _gap(output, found, names[0], pe)
        out.append((pe, one.path))
    return out


def golden_for(output: str, golden: str, pe: int | None = None) -> str:
    """The golden of one output in a folder; PrecisionError where it has none."""
    goldens = _goldens(golden)
    one = _parsed(output, _OUTPUT)
    own = one.pe if pe is None else pe
    name = "" if {found.name for found in goldens.values()} <= {""} else one.name
    found = goldens.get((name, own if own is not None else 0)) or goldens.get((name, None))
    if found is None:
        raise PrecisionError("output-alone", path=output, folder=golden, name=_wanted(name, own))
    return found.path


def has_outputs(folder: str, golden: str) -> bool:
    """Whether a folder holds results of an operator whose golden lies in the other."""
    if not os.path.isdir(folder):
        return False
    known = {one.name for one in _goldens(golden, said_only=_same(folder, golden)).values()}
    found, unjudged = _outputs(folder, known, same=_same(folder, golden))
    return bool(found or unjudged)


def has_goldens(folder: str) -> bool:
    """Whether a folder, or its folders of PEs, holds files that call themselves golden."""
    return os.path.isdir(folder) and any(one.said for one in _goldens(folder).values())


def files_of_goldens(folder: str) -> list[str]:
    """The golden files of a folder and its folders of PEs."""
    return [one.path for one in _goldens(folder).values()]


def _same(output: str, golden: str) -> bool:
    return os.path.realpath(output) == os.path.realpath(golden)


def _count(found: Table, goldens: Table) -> int:
    """PEs up to the highest that an output or a golden is of."""
    return max(pe for _, pe in (*found, *goldens) if pe is not None) + 1


def _gap(output: str, found: Table, name: str, pe: int) -> PrecisionError:
    there = max(p for n, p in found if n == name and p is not None)
    return PrecisionError("pe-gap", path=output, there=there, missing=f"{pe} ({name})" if name else pe)


def _missing(found: Table, name: str, pe: int | None) -> str:
    """Where the result of a PE ought to be, by where another's is."""
    other = next(one for (n, _), one in sorted(found.items(), key=str) if n == name)
    folder, _, base = other.path.rpartition("/")
    stem, suffix = os.path.splitext(base)
    return f"{folder}/{re.sub(r'[0-9]+$', str(pe), stem)}{suffix}"


def _wanted(name: str, pe: int | None) -> str:
    stem = f"golden_{name}" if name else "golden"
    return f"{stem}_pe{pe}.bin" if pe is not None else f"{stem}.bin"


def _outputs(folder: str, known: set[str], *, same: bool) -> tuple[Table, list[str]]:
    """The results in a folder, and data in it that is none.

    One that is shared with goldens and inputs has only results that say so or have a golden.  PrecisionError where two
    are the same, or one says that it is an output and not of what.
    """
    found: Table = {}
    odd: list[Found] = []
    for path in _files(folder):
        if _OTHERS & _words(path):
            continue
        one = _parsed(path, _OUTPUT)
        if same and not one.said and one.name not in known:
            continue
        if one.pe is None and one.name not in known:
            odd.append(one)
            continue
        twice = found.setdefault((one.name, one.pe), one)
        if twice is not one:
            raise PrecisionError("two-files", first=twice.path, second=one.path)
    unknown = next((one for one in odd if one.said or not found), None)
    if unknown is not None:
        raise PrecisionError("unknown-layout", path=unknown.path)
    single = [one for (_, pe), one in found.items() if pe is None]
    if single and len(single) < len(found):
        raise PrecisionError("pe-unsaid", path=single[0].path)
    return found, [one.path for one in odd]


def _goldens(folder: str, *, said_only: bool = False) -> Table:
    found: Table = {}
    inner: list[tuple[str, int | None]] = [(folder, None)]
    try:
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda e: e.name):
                match = _FOLDER.match(entry.name)
                if match and entry.is_dir():
                    inner.append((entry.path.replace("\\", "/"), int(match[1])))
    except OSError as error:
        raise PrecisionError("unreadable", path=folder, why=error.strerror or error) from error
    for here, pe in inner:
        paths = _files(here)
        said = [path for path in paths if _GOLDEN & _words(path)]
        # A folder of goldens may call them as the outputs are called.
        others = [] if said_only else [path for path in paths if not _OTHERS & _words(path)]
        for path in said or others:
            one = _parsed(path, _GOLDEN if said else _OUTPUT)
            own = replace(one, pe=pe) if pe is not None else one
            found.setdefault((own.name, own.pe), own)
    return found


def _files(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise PrecisionError("unreadable", path=folder, why=error.strerror or error) from error
    if len(names) > _MOST:
        raise PrecisionError("many-files", path=folder, count=len(names), most=_MOST)
    return [f"{folder.rstrip('/')}/{name}" for name in names if name.endswith(SUFFIXES) and not name.startswith(".")]


def _parsed(path: str, words: frozenset[str]) -> Found:
    """Name and PE of a file; ``words`` are those that say what it is and belong to no name."""
    stem = _stem(path)
    match = _PE.search(stem) or _NUMBER.search(stem)
    pe = int(match[1]) if match else None
    rest = stem[: match.start()] if match else stem
    parts = [part for part in _WORDS.split(rest) if part]
    kept = [part for part in parts if part.lower() not in words]
    return Found(path, "_".join(kept), pe, len(kept) < len(parts))


def _words(path: str) -> set[str]:
    return set(_WORDS.split(_stem(path).lower()))


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]
