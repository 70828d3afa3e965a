"""Operators of every kind, rendered once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from opdev.scaffold.cli import main
from opdev.scaffold.options import BUILD_MODES, KINDS

DTYPES = dict.fromkeys(KINDS, "float16,bfloat16,float32,int8,int64") | {
    "reduce-scatter": "float16,bfloat16,float32,int8,int16,int32"
}


@dataclass(frozen=True)
class Made:
    """An operator that `opdev new` wrote: the repository and the operator's folder."""

    base: Path
    root: Path
    kind: str
    mode: str


def make_tree(base: Path) -> Path:
    """What an in-tree example needs of a SHMEM checkout."""
    for name in ("include", "src", "scripts", "examples/torch_binding"):
        (base / name).mkdir(parents=True, exist_ok=True)
    (base / "scripts" / "build.sh").write_text("#!/bin/bash\nset -euo pipefail\n", encoding="utf-8")
    (base / "scripts" / "build.sh").chmod(0o755)
    (base / "include" / "shmem.h").write_text("// SHMEM\n", encoding="utf-8")
    (base / "version.info").write_text("1.0\n", encoding="utf-8")
    (base / "examples" / "CMakeLists.txt").write_text("add_subdirectory(torch_binding)\n", encoding="utf-8")
    (base / "examples" / "torch_binding" / "CMakeLists.txt").write_text(
        "add_library(aclshmem_torch SHARED\n    src/torch_bindings.cpp\n)\n"
        "target_link_libraries(aclshmem_torch PRIVATE ${ACLSHMEM_ALL_KERNEL_TARGETS})\n",
        encoding="utf-8",
    )
    return base


def new(base: Path, kind: str, mode: str, name: str = "", *flags: str) -> Made:
    name = name or f"my_{kind.replace('-', '_')}"
    base.mkdir(parents=True, exist_ok=True)
    if mode == "in_tree_example":
        make_tree(base)
    status = main(
        "new", [name, "--kind", kind, "--dtypes", DTYPES[kind], "--build-mode", mode, "--dir", str(base), *flags]
    )
    assert status == 0
    return Made(base, base / ("examples" if mode == "in_tree_example" else "custom-ops") / name, kind, mode)


@pytest.fixture(scope="session", params=[(k, m) for k in KINDS for m in BUILD_MODES], ids="-".join)
def made(request, tmp_path_factory) -> Made:
    kind, mode = request.param
    return new(tmp_path_factory.mktemp("repo"), kind, mode, "", "--torch")


@pytest.fixture
def fresh(tmp_path, capsys) -> Made:
    """One operator for a test to change."""
    operator = new(tmp_path, "custom", "independent_project", "ring")
    capsys.readouterr()
    return operator
