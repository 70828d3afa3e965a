"""An operator's last outputs: where its scripts put data, golden and results.

The newest ``config.json`` below ``data/`` counts; ``output/`` mirrors ``data/`` (a folder for each tag), or is one folder,
or the outputs lie beside the data.  Without one, it is as public examples do: ``golden/<case>/`` beside ``output/``, or an
``output/`` that has the goldens, too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from opdev.design.dtypes import fold_dtype
from opdev.precision import layouts
from opdev.precision.asked import asked, typed
from opdev.precision.judge import Ask, Pair, judge_pairs
from opdev.precision.model import Report
from opdev.precision.texts import PrecisionError, both
from opdev.project.places import Places

_MOST_PES = 1024
_OLDER = 2.0
_MOST_FOLDERS = 2000


@dataclass(frozen=True)
class Layout:
    """Where one run's files are; absolute paths.  ``config`` is what its scripts wrote of it, in config.json's words."""

    data: str
    output: str
    config: dict[str, Any]

    @property
    def pes(self) -> int | None:
        found: int | None = self.config.get("n_pes")
        return found


def judge_operator(
    root: str, *, data: str | None = None, output: str | None = None, torch_output: str | None = None, ask: Ask | None = None,
    backend: str | None = None,
) -> Report:  # fmt: skip
    """Judge an operator's last outputs.

    ``root`` is its folder.  ``data`` and ``output`` name other folders than the newest; ``torch_output`` is a folder of
    files called as the outputs are, for the second pass.  ``ask`` says what the operator's files do not, ``backend`` where
    the outputs are from if the caller knows.  PrecisionError where there is nothing to judge.
    """
    root = os.path.abspath(root).replace("\\", "/")
    found = layout(root, data, output)
    basis = asked(root, found.config, ask or Ask())
    notes = (both("n-data", data=_below(root, found.data), output=_below(root, found.output)), *basis.notes)

    def reference(path: str, pe: int | None) -> str | None:
        del pe
        return f"{torch_output}/{os.path.basename(path)}" if torch_output is not None else None

    pairs = [_dated(pair) for pair in layouts.folders(found.output, found.data, reference, found.pes)]
    pairs = typed(pairs, found.config, basis)
    name = root.rsplit("/", 1)[-1]
    return judge_pairs(
        pairs, basis.ask, operator=name, root=root, backend=backend or _backend(root, found), notes=notes
    )


def root_of(folder: str) -> str:
    """The operator a folder is or lies in; PrecisionError where there is none."""
    path = os.path.abspath(os.path.expanduser(folder)).replace("\\", "/")
    if not os.path.isdir(path):
        raise PrecisionError("no-operator", path=folder)
    root = Places().of(f"{path}/CMakeLists.txt").root
    if root is not None and os.path.isdir(root):
        return root
    here = path
    while here not in ("", "/"):
        if os.path.isfile(f"{here}/docs/design.md"):
            return here
        here = here.rpartition("/")[0]
    if any(os.path.isdir(f"{path}/{name}") for name in ("data", "golden")):
        return path
    raise PrecisionError("no-operator", path=folder)


def layout(root: str, data: str | None = None, output: str | None = None) -> Layout:
    """The files of the last run; PrecisionError where there are none."""
    config = _config_path(root, data)
    if config is None:
        return _example(root, output)
    read = _config(config)
    folder = config.rpartition("/")[0]
    if output is not None:
        return Layout(folder, _folder(output), read)
    tag = folder[len(root) + 1 :].partition("/")[2] if folder.startswith(f"{root}/data") else ""
    tried = [f"{root}/output/{tag}", f"{root}/output", folder] if tag else [f"{root}/output", folder]
    for where in tried:
        if layouts.has_outputs(where, folder):
            return Layout(folder, where, read)
    raise PrecisionError("no-outputs", tried=", ".join(f"{_below(root, t)}/output_pe0.bin" for t in tried))


def _folder(path: str) -> str:
    where = os.path.abspath(path).replace("\\", "/")
    if not os.path.isdir(where):
        raise PrecisionError("missing", path=path)
    return where


def _example(root: str, output: str | None) -> Layout:
    """The newest goldens of a layout without config.json that have outputs; PrecisionError where there are none."""
    outside = [base for base in (root, *_inner(root)) if not base.endswith(("/build", "/data"))]
    goldens = [(inner, f"{base}/output") for base in outside for inner in (f"{base}/golden", *_inner(f"{base}/golden"))]
    goldens += [(f"{base}/output", f"{base}/output") for base in outside]
    there = [(data, where) for data, where in goldens if layouts.has_goldens(data)]
    if not there:
        raise PrecisionError("no-data", path=root)
    for data, where in sorted(there, key=lambda pair: _written(pair[0]), reverse=True):
        judged = _folder(output) if output is not None else where
        if layouts.has_outputs(judged, data):
            return Layout(data, judged, _meta(data))
    raise PrecisionError("no-outputs", tried=", ".join(dict.fromkeys(_below(root, where) for _, where in there)))


def _inner(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir() and not entry.name.startswith("."))
    except OSError:
        return
    yield from (f"{folder}/{name}" for name in names[:_MOST_FOLDERS])


def _written(folder: str) -> float:
    """When its newest golden was written."""
    return max((os.path.getmtime(p) for p in layouts.files_of_goldens(folder)), default=0.0)


def _meta(folder: str) -> dict[str, Any]:
    """What ``meta.json`` beside goldens says, in config.json's words; what it does not say stays open."""
    try:
        read = json.loads(Path(f"{folder}/meta.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(read, dict):
        return {}
    pes, dtype = read.get("pe_size", read.get("n_pes")), read.get("dtype")
    found: dict[str, Any] = {}
    if isinstance(pes, int) and not isinstance(pes, bool) and 1 <= pes <= _MOST_PES:
        found["n_pes"] = pes
    if isinstance(dtype, str) and fold_dtype(dtype) is not None:
        found["dtype"] = dtype
    return found


def _config_path(root: str, data: str | None) -> str | None:
    if data is not None:
        folder = os.path.abspath(data).replace("\\", "/")
        if not os.path.isfile(f"{folder}/config.json"):
            raise PrecisionError("missing", path=f"{data}/config.json")
        return f"{folder}/config.json"
    found: list[tuple[float, str]] = []
    for count, (here, names, files) in enumerate(os.walk(f"{root}/data")):
        names[:] = [n for n in names if not n.startswith(".") and n not in ("logs", "perf")]
        if "config.json" in files:
            path = f"{here}/config.json".replace("\\", "/")
            found.append((os.path.getmtime(path), path))
        if count > _MOST_FOLDERS:
            break
    return max(found)[1] if found else None


def _config(path: str) -> dict[str, Any]:
    try:
        read = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise PrecisionError("bad-config-json", path=path, why=error) from error
    if not isinstance(read, dict):
        raise PrecisionError("bad-config-json", path=path, why="{}")
    pes, dtype, kept = read.get("n_pes"), read.get("dtype"), read.get("numpy_dtype", read.get("dtype"))
    if isinstance(pes, bool) or not isinstance(pes, int) or not 1 <= pes <= _MOST_PES:
        raise PrecisionError("bad-config-json", path=path, why=f"n_pes = {pes!r}")
    for key, value in (("dtype", dtype), ("numpy_dtype", kept)):
        if not isinstance(value, str) or fold_dtype(value) is None:
            raise PrecisionError("bad-config-json", path=path, why=f"{key} = {value!r}")
    expected, received, shape = read.get("expected_elems"), read.get("received"), read.get("shape")
    if expected is not None and (isinstance(expected, bool) or not isinstance(expected, int) or expected < 1):
        raise PrecisionError("bad-config-json", path=path, why=f"expected_elems = {expected!r}")
    for key, value in (("received", received), ("shape", shape)):
        if value is not None and not (
            isinstance(value, list) and all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in value)
        ):
            raise PrecisionError("bad-config-json", path=path, why=f"{key} = {value!r}")
    outputs = read.get("outputs")
    if outputs is not None and not (isinstance(outputs, list) and all(_result(one) for one in outputs)):
        raise PrecisionError("bad-config-json", path=path, why=f"outputs = {outputs!r}")
    if received is not None and len(received) != pes:
        raise PrecisionError("bad-config-json", path=path, why=f"received = {received!r}")
    return read


def _result(value: object) -> bool:
    """Whether it is one of ``outputs``: a name, a dtype, and if wanted how many elements and stored as what."""
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return False
    size = value.get("expected_elems", 1)
    kinds = value.get("dtype"), value.get("numpy_dtype", value.get("dtype"))
    good = all(isinstance(kind, str) and fold_dtype(kind) is not None for kind in kinds)
    return good and isinstance(size, int) and not isinstance(size, bool) and size > 0


def _dated(pair: Pair) -> Pair:
    """With a note where the output is older than its golden."""
    try:
        older = os.path.getmtime(pair.golden) - os.path.getmtime(pair.output) > _OLDER
    except OSError:
        return pair
    return replace(pair, notes=(*pair.notes, both("n-older"))) if older else pair


def _backend(root: str, found: Layout) -> str | None:
    """``sim`` or ``npu`` where the case runner's record says so for this data."""
    if found.data != f"{root}/data/matrix":
        return None
    try:
        record = json.loads(Path(f"{root}/data/case_results.json").read_text(encoding="utf-8"))
        return str(record["backend"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _below(root: str, path: str) -> str:
    return path[len(root) + 1 :] if path.startswith(root + "/") else path
