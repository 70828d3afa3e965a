"""Which folders are PyPTO operators, and of which generation, when no state file says so.

Other workflows have their own marks: a ``docs/design.md`` or a kernel in C++ makes a SHMEM operator.
"""

from __future__ import annotations

import os
import re

from opdev.kinds import classify
from opdev.pypto.statefile import NAME, read
from opdev.pypto.states import RefusedError, Workflow, workflow

_CODE = re.compile(r"(?:test_\w+|\w+_impl(?:_[a-z0-9]+)?|\w+_golden(?:_cpu|_stage\d+)?)\.py")
_DOCS = frozenset({"SPEC.md", "DESIGN.md", "API_REPORT.md"})
_PRO_DOCS = frozenset(
    {"EXPLORE_REPORT.md", "PRO_MATERIAL_INDEX.md", "KB_SELECTION.json", "DESIGN_BINDINGS.json", "KB_USAGE.json"}
)
_SECOND = frozenset(
    {"KB_SELECTION.json", "DESIGN_BINDINGS.json", "KB_USAGE.json", "module_interfaces.yaml", "PERFORMANCE_CASES.json"}
)
_FOLDERS = ("", "docs", "SPEC", "DESIGN", "API_REPORT", "src", "golden", "tests", "modules", "eval")
_NOT_OPERATORS = frozenset({"modules", "docs", "eval", "src", "tests", "golden", "scripts", "utils", "common", "lib"})
_NAME_PARTS = ("_golden_cpu.py", "_golden.py", "_impl.py")
_MOST_NAMES = 2000
_MOST_TESTS = 8
"""More than an operator has: the tests of a whole project, which may speak of PyPTO and be no operator's."""
_MOST_BYTES = 300_000


def workflow_of(root: str) -> Workflow | None:
    """The workflow of the operator in a folder; None where it is no PyPTO operator."""
    here = root.rpartition("/")
    names = _names(root)
    if NAME in names[""]:
        try:
            state = read(root)
        except RefusedError:
            state = None
        if state is not None and ("max_stage" in state or workflow(state) != "classic"):
            return workflow(state)
        return by_files(root) or "classic"
    if here[2] in _NOT_OPERATORS or "design.md" in names["docs"] or "design.md" in names[""]:
        return None
    if any(n.endswith(("_kernel.cpp", "_kernel.h")) or n == "main.cpp" for n in (*names[""], *names["src"])):
        return None
    return by_files(root, names)


def by_files(root: str, names: dict[str, frozenset[str]] | None = None) -> Workflow | None:
    """The workflow by an operator's documents and code alone."""
    names = _names(root) if names is None else names
    every = frozenset().union(*names.values())
    code = pro = False
    for folder, files in names.items():
        if folder == "tests" and len(files) > _MOST_TESTS:
            continue
        for name in files:
            if _CODE.fullmatch(name):
                kinds = _kinds(os.path.join(root, folder, name).replace("\\", "/"))
                code = code or "pypto" in kinds
                pro = pro or "pypto-pro" in kinds
    pro = pro or (code and any(n.endswith("_golden_cpu.py") for n in every)) or bool(every & _PRO_DOCS)
    contract = _contract(root, names)
    if pro or contract:
        second = contract or _SECOND & names[""] or any("_golden_stage" in n for n in every)
        return "pro" if second else "pro4"
    below_custom = root.rpartition("/")[0].endswith("/custom")
    docs = every & _DOCS
    if code or (below_custom and docs) or ("API_REPORT.md" in docs and len(docs) > 1):
        return "classic"
    return None


def name_of(root: str) -> str:
    """An operator's name: its state's, its files', its folder's."""
    try:
        state = read(root)
    except RefusedError:
        state = None
    name = state.get("operator_name") if state is not None else None
    if isinstance(name, str) and re.fullmatch(r"[A-Za-z_]\w*", name.strip()):
        return name.strip()
    names = sorted(frozenset().union(*_names(root).values()))
    for tail in _NAME_PARTS:
        for file in names:
            if file.endswith(tail) and "_module" not in file:
                return file[: -len(tail)]
    return root.rpartition("/")[2]


def _names(root: str) -> dict[str, frozenset[str]]:
    """The files of the folders that count, by folder."""
    found = {}
    for folder in _FOLDERS:
        try:
            with os.scandir(os.path.join(root, folder) if folder else root) as entries:
                found[folder] = frozenset(
                    e.name for _, e in zip(range(_MOST_NAMES), entries, strict=False) if e.is_file()
                )
        except OSError:
            found[folder] = frozenset()
    return found


def _kinds(path: str) -> frozenset[str]:
    return classify(path, _bytes(path), in_operator=True).names


def _contract(root: str, names: dict[str, frozenset[str]]) -> bool:
    """Whether SPEC.md has PyPTO-Pro's machine contract."""
    where = next((f for f in ("", "docs", "SPEC") if "SPEC.md" in names[f]), None)
    return where is not None and b"json machine-contract" in _bytes(os.path.join(root, where, "SPEC.md"))


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(_MOST_BYTES)
    except OSError:
        return b""
