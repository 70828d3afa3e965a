"""What a shell script runs and with what: binaries, tolerances, the default number of PEs, dtypes it knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from opdev.design.dtypes import fold_dtype, number
from opdev.syntax import bash
from opdev.syntax.file import File
from opdev.syntax.tree import ancestors, walk
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_REFERENCE = re.compile(r"\$\{(\w+)\}|\$(\w+)")
_BINARY = re.compile(
    r"(?:^|/)build(?:[\w.-]*)?/(?:\$?\{?\w+\}?/)*bin/(?P<name>[A-Za-z_][\w.-]*)\Z|(?:^|/)bin/(?P<short>[A-Za-z_][\w.-]*)\Z"
)
_SYSTEM = ("/bin/", "/usr/", "/opt/", "$ASCEND", "${ASCEND", "$CANN", "${CANN")
_PES = re.compile(r"(?i)n?_?pes?|pe_?(?:size|num|count)|n_?pes|rank_?(?:size|num)|world_?size|gnpu_num|npu_num")
_POSITIONAL = re.compile(r"\$\{(?P<place>\d+):-(?P<value>\d+)\}")


@dataclass(frozen=True, slots=True)
class Binary:
    """A program below ``bin/`` that the script starts or looks for.  ``[start, end)`` is its name."""

    name: str
    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Given:
    """A tolerance the script hands on.  ``dtypes`` are those it is given for; empty means all of them."""

    option: Literal["rtol", "atol"]
    value: float
    text: str
    start: int
    end: int
    dtypes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PeDefault:
    """How many PEs a run without arguments has."""

    name: str
    value: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class DtypeArm:
    """A dtype as the script spells it, and where."""

    dtype: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class DtypeCase:
    """``case "${DTYPE}" in …``.  ``closed`` says that any other value makes the script fail."""

    start: int
    end: int
    arms: tuple[DtypeArm, ...]
    closed: bool

    @property
    def dtypes(self) -> frozenset[str]:
        return frozenset(arm.dtype for arm in self.arms)


def expand(file: File, text: str, depth: int = 4) -> str:
    """``text`` with variables of one literal value filled in."""
    known = bash.assigned(_all(file))

    def value(match: re.Match[str]) -> str:
        given = known.get(match[1] or match[2], [])
        loose = given[0].raw.strip("\"'") if len(given) == 1 and not given[0].append else None
        return loose if loose is not None and "`" not in loose and "$(" not in loose and len(loose) < 200 else match[0]

    while depth and "$" in text and len(text) < 600:
        new = _REFERENCE.sub(value, text)
        if new == text:
            break
        text, depth = new, depth - 1
    return text


def binaries(file: File) -> tuple[Binary, ...]:
    """The programs below ``bin/`` the script names, in text order."""

    def collect() -> tuple[Binary, ...]:
        view, found = _all(file), dict[int, Binary]()
        words = [(a.value_node, a.raw) for a in bash.assignments(view) if a.value_node is not None]
        words += [(w.node, w.raw) for c in bash.commands(view) for w in c.words]
        for node, raw in words:
            if "bin/" not in raw or node.start_byte in found:
                continue
            path = raw.strip("\"'")
            full = expand(file, path)
            match = _BINARY.search(full)
            if match is None or full.startswith(_SYSTEM) or "$(" in path:
                continue
            name = match["name"] or match["short"]
            at = file.data.rfind(path.rpartition("/")[2].encode(), node.start_byte, node.end_byte)
            if at >= 0:
                end = at + len(path.rpartition("/")[2].encode())
                found[node.start_byte] = Binary(name, full, at, end)
        return tuple(found[at] for at in sorted(found))

    return file.memo("facts.binaries", collect)


def tolerances(file: File) -> tuple[Given, ...]:
    """The values given for ``--rtol`` and ``--atol``, by way of variables too, in text order."""

    def collect() -> tuple[Given, ...]:
        found: dict[tuple[str, int], Given] = {}
        followed: set[tuple[str, str]] = set()
        for command in bash.commands(_all(file)):
            words = command.words
            for index, word in enumerate(words):
                loose = word.loose
                option = next((o for o in ("rtol", "atol") if loose == f"--{o}" or loose.startswith(f"--{o}=")), None)
                if option is None:
                    continue
                if "=" in loose:
                    raw, start = loose.partition("=")[2], word.end - len(word.raw.partition("=")[2].encode())
                    end = word.end
                elif index + 1 < len(words):
                    raw, start, end = words[index + 1].loose, words[index + 1].start, words[index + 1].end
                else:
                    continue
                if (option, raw) in followed:
                    continue
                if "$" in raw:
                    followed.add((option, raw))
                for given in _values(file, "rtol" if option == "rtol" else "atol", raw, start, end):
                    found.setdefault((given.option, given.start), given)
        return tuple(sorted(found.values(), key=lambda g: (g.start, g.option)))

    return file.memo("facts.tolerances", collect)


def _values(file: File, option: Literal["rtol", "atol"], raw: str, start: int, end: int) -> Iterator[Given]:
    value = number(raw)
    if isinstance(value, float):
        yield Given(option, value, raw, start, end)
        return
    reference = _REFERENCE.fullmatch(raw)
    if reference is None:
        return
    for given in bash.assigned(_all(file)).get(reference[1] or reference[2], []):
        value = number(given.value) if given.value is not None else None
        if isinstance(value, float) and given.value_node is not None:
            dtypes = tuple(dict.fromkeys(arm.dtype for arm in _arms_around(file, given.node)))
            node = given.value_node
            yield Given(option, value, given.value or "", node.start_byte, node.end_byte, dtypes)


def _arms_around(file: File, node: Node) -> list[DtypeArm]:
    for above in ancestors(node):
        if above.type == "case_item":
            return [arm for arm in _patterns(file, above) if arm is not None]
    return []


def pe_defaults(file: File) -> tuple[PeDefault, ...]:
    """Defaults of the number of PEs, in text order."""

    def collect() -> tuple[PeDefault, ...]:
        found = []
        for given in bash.assignments(_all(file)):
            match = _POSITIONAL.search(given.raw)
            if match is None or given.value_node is None or not _PES.fullmatch(given.name):
                continue
            start = given.value_node.start_byte + len(given.raw[: match.start("value")].encode())
            found.append(PeDefault(given.name, int(match["value"]), start, start + len(match["value"])))
        return tuple(found)

    return file.memo("facts.pe_defaults", collect)


def dtype_cases(file: File) -> tuple[DtypeCase, ...]:
    """The ``case`` statements that tell dtypes apart, in text order."""

    def collect() -> tuple[DtypeCase, ...]:
        found = []
        for node in walk(file.root) if b"case" in file.words else ():
            if node.type != "case_statement":
                continue
            value = node.child_by_field_name("value")
            arms: list[DtypeArm] = []
            closed = True
            for item in (c for c in node.named_children if c.type == "case_item"):
                patterns = _patterns(file, item)
                arms += [arm for arm in patterns if arm is not None]
                if None in patterns:
                    body = file.code[item.start_byte : item.end_byte]
                    closed = closed and re.search(rb"\b(?:exit|return|die|fail|usage)\b", body) is not None
            if arms and value is not None:
                # Without a default every other value is let through.
                has_default = any(None in _patterns(file, c) for c in node.named_children if c.type == "case_item")
                found.append(DtypeCase(value.start_byte, value.end_byte, tuple(arms), closed and has_default))
        return tuple(found)

    return file.memo("facts.dtype_cases", collect)


def _patterns(file: File, item: Node) -> list[DtypeArm | None]:
    """The dtypes of a case's patterns; None stands for a pattern that is no dtype."""
    found: list[DtypeArm | None] = []
    for node in item.children:
        if node.type == ")":
            break
        if not node.is_named:
            continue
        text = file.source.text(node.start_byte, node.end_byte).strip("\"'")
        dtype = fold_dtype(text)
        found.append(DtypeArm(dtype, text, node.start_byte, node.end_byte) if dtype is not None else None)
    return found


def _all(file: File) -> View:
    return View(file, 0, len(file.data))
