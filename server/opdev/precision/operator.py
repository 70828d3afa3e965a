"""An operator's last outputs: where its scripts put data, golden and results, and by what its design wants them judged.

The newest ``config.json`` below ``data/`` counts; ``output/`` mirrors ``data/`` (a folder for each tag), or is one folder,
or the outputs lie beside the data.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

from opdev.design.derived import op_type, tolerance
from opdev.design.document import document_of
from opdev.design.dtypes import fold_dtype, number
from opdev.design.scale import power
from opdev.precision.files import NUMPY
from opdev.precision.judge import Ask, Pair, judge_pairs
from opdev.precision.model import Both, Report
from opdev.precision.texts import PrecisionError, both
from opdev.project.operators import Operator
from opdev.project.places import Places

_MOST_PES = 1024
_OLDER = 2.0
_MOST_FOLDERS = 2000


@dataclass(frozen=True)
class Layout:
    """Where one run's files are; absolute paths."""

    data: str
    output: str
    config: dict[str, Any]

    @property
    def pes(self) -> int:
        found: int = self.config["n_pes"]
        return found


def judge_operator(
    root: str, *, data: str | None = None, output: str | None = None, torch_output: str | None = None, ask: Ask | None = None
) -> Report:  # fmt: skip
    """Judge an operator's last outputs.

    ``root`` is its folder.  ``data`` and ``output`` name other folders than the newest; ``torch_output`` is a folder of
    ``output_pe<n>`` files for the second pass.  ``ask`` says what the operator's files do not.  PrecisionError where there
    is nothing to judge.
    """
    root = os.path.abspath(root).replace("\\", "/")
    found = layout(root, data, output)
    asked, notes = _asked(root, found, ask or Ask())
    notes = (both("n-data", data=_below(root, found.data), output=_below(root, found.output)), *notes)
    pairs = [_pair(found, pe, torch_output) for pe in range(found.pes)]
    name = root.rsplit("/", 1)[-1]
    return judge_pairs(pairs, asked, operator=name, root=root, backend=_backend(root, found), notes=notes)


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
    if os.path.isdir(f"{path}/data"):
        return path
    raise PrecisionError("no-operator", path=folder)


def layout(root: str, data: str | None = None, output: str | None = None) -> Layout:
    """The files of the last run; PrecisionError where there are none."""
    config = _config_path(root, data)
    read = _config(config)
    folder = config.rpartition("/")[0]
    if output is not None:
        where = os.path.abspath(output).replace("\\", "/")
        if not os.path.isdir(where):
            raise PrecisionError("missing", path=output)
        return Layout(folder, where, read)
    tag = folder[len(root) + 1 :].partition("/")[2] if folder.startswith(f"{root}/data") else ""
    tried = [f"{root}/output/{tag}", f"{root}/output", folder] if tag else [f"{root}/output", folder]
    for where in tried:
        if any(os.path.isfile(f"{where}/{_output(pe)}") for pe in range(read["n_pes"])):
            return Layout(folder, where, read)
    raise PrecisionError("no-outputs", tried=", ".join(f"{_below(root, t)}/{_output(0)}" for t in tried))


def _output(pe: int) -> str:
    return f"output_pe{pe}.bin"


def _config_path(root: str, data: str | None) -> str:
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
    if not found:
        raise PrecisionError("no-data", path=root)
    return max(found)[1]


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
    if received is not None and len(received) != pes:
        raise PrecisionError("bad-config-json", path=path, why=f"received = {received!r}")
    return read


def _pair(found: Layout, pe: int, torch_output: str | None) -> Pair:
    golden = f"{found.data}/golden_pe{pe}.bin"
    if not os.path.isfile(golden) and os.path.isfile(f"{found.data}/golden.bin"):
        golden = f"{found.data}/golden.bin"
    output = f"{found.output}/{_output(pe)}"
    notes: tuple[Both, ...] = ()
    try:
        if os.path.getmtime(golden) - os.path.getmtime(output) > _OLDER:
            notes = (both("n-older"),)
    except OSError:
        pass
    received = found.config.get("received")
    reference = f"{torch_output}/{_output(pe)}" if torch_output is not None else None
    return Pair(f"PE {pe}", output, golden, pe, reference, received[pe] if received is not None else None, notes)


def _asked(root: str, found: Layout, ask: Ask) -> tuple[Ask, tuple[Both, ...]]:
    """What to judge by: what was asked for, else what config.json and the design say."""
    dtype = fold_dtype(found.config["dtype"]) or ""
    kept = fold_dtype(found.config.get("numpy_dtype", dtype)) or dtype
    if dtype == "bfloat16" and kept == NUMPY["bfloat16"]:
        kept = dtype
    expected, given = found.config.get("expected_elems"), found.config.get("shape")
    wanted = (
        None if expected is None else tuple(given) if given is not None and prod(given) == expected else (expected,)
    )
    kind, name, rtol = _design(root, dtype)
    ask = replace(
        ask, dtype=ask.dtype or kept, judge_dtype=ask.judge_dtype or (dtype if dtype != kept else None), expected=wanted,
        pes=ask.pes or found.pes, op_kind=ask.op_kind or kind, op_name=ask.op_name or name or root.rsplit("/", 1)[-1],
    )  # fmt: skip
    notes: list[Both] = []
    if not ask.op_kind and ask.op_type is None:
        notes.append(both("n-no-design"))
        if ask.standard == "shmem":
            ask = replace(ask, op_kind="collective")
    judged = ask.judge_dtype or ask.dtype or ""
    if rtol is not None and ask.rtol is None and ask.standard == "shmem":
        limit = tolerance(ask.op_type or op_type(ask.op_kind, judged, ask.op_name), judged, ask.compute_times)
        if limit is not None and rtol > limit:
            notes.append(both("n-design-loose", rtol=power(rtol), standard=power(limit)))
        elif limit is not None:
            ask = replace(ask, rtol=rtol)
            if rtol < limit:
                notes.append(both("n-design", rtol=power(rtol)))
    return ask, tuple(notes)


def _design(root: str, dtype: str) -> tuple[str, str, float | None]:
    """(op_kind, op_name, rtol of the dtype) of the operator's design; empty where it does not say."""
    for file in Operator(root, Places()).files("design-doc"):
        document = document_of(file)
        node = document.get("correctness.tolerance.rtol")
        value: Any = node.data() if node is not None else None
        if isinstance(value, dict):
            value = next((v for k, v in value.items() if fold_dtype(str(k)) == dtype), None)
        read = number(value)
        good = isinstance(read, (int, float)) and not isinstance(read, bool) and read >= 0
        return document.text("meta.op_kind"), document.text("meta.op_name"), float(read) if good else None  # type: ignore[arg-type]
    return "", "", None


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
