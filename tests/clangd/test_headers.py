"""Whose headers are taken: a tree in the shape of CANN's, made here; the real one is on few machines."""

from __future__ import annotations

import os
import platform

import pytest

from opdev.clangd import write
from opdev.clangd.checking import check
from opdev.clangd.headers import STAND_IN, headers

KERNEL = """#pragma once
#define __aicore__ [aicore]
#undef __aicore__
#define __aicore__
using GM_ADDR = __gm__ uint8_t *;
namespace AscendC {
__aicore__ inline void PipeAll() { pipe_barrier(PIPE_ALL); set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0); }
template <class T> __aicore__ inline void Fill(__ubuf__ T *to, half with) { vector_dup(to, with, 1); }
}  // namespace AscendC
"""
ACL = "#pragma once\n#include <cstdint>\ntypedef int aclError;\naclError aclrtSetDevice(int32_t device);\n"
USER = """#include "kernel_operator.h"
#include "shmem.h"
extern "C" __global__ __aicore__ void fill(GM_ADDR to)
{
    AscendC::PipeAll();
    AscendC::Fill((__ubuf__ half *)to, half(1));
    aclshmem_quiet();
}
"""


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture(params=["compiler/tikcpp/tikcfw", "{arch}-linux/asc/include"])
def cann(request, tmp_path):
    home = tmp_path / "Ascend"
    put(home / request.param.format(arch=platform.machine()) / "kernel_operator.h", KERNEL)
    put(home / "include" / "acl" / "acl.h", ACL)
    return home


@pytest.fixture
def operator(tmp_path):
    root = tmp_path / "repo" / "custom-ops" / "fill"
    put(root / "src" / "fill_kernel.cpp", USER)
    put(root / "CMakeLists.txt", "project(fill)\nset(OPTIONS -xcce --cce-aicore-arch=dav-c310)\n")
    put(tmp_path / "repo" / "install" / "shmem" / "include" / "shmem.h", "#pragma once\nvoid aclshmem_quiet();\n")
    return root


def test_cann_is_taken_where_it_really_is(clangd, cann, operator):
    written = write(str(operator), environ={"ASCEND_TOOLKIT_HOME": str(cann), "PATH": os.environ["PATH"]})

    text = (operator / "compile_commands.json").read_text(encoding="utf-8")
    assert (written.origin, written.home) == ("cann", str(cann))
    assert STAND_IN not in text
    assert str(operator.parents[1] / "install" / "shmem" / "include") in text
    assert "-D__NPU_ARCH__=3510" in text
    assert [c for c in check(clangd, written.files) if c.errors or c.broken] == []


def test_cann_without_shmem_is_no_use_and_said(cann, operator):
    (operator.parents[1] / "install" / "shmem" / "include" / "shmem.h").unlink()

    written = write(str(operator), environ={"ASCEND_HOME_PATH": str(cann)})

    assert (written.origin, [n.key for n in written.notes]) == ("stand-in", ["no-shmem-headers"])
    assert headers(str(operator), {"ASCEND_HOME_PATH": str(cann)}, shmem=False).origin == "cann"


def test_a_variable_alone_is_no_cann(tmp_path, operator):
    half = tmp_path / "half"
    put(half / "include" / "acl" / "acl.h", ACL)

    for home in ("", "/nowhere", str(half)):
        assert write(str(operator), environ={"ASCEND_HOME_PATH": home}).origin == "stand-in"


def test_the_stand_in_in_the_place_of_cann_is_the_stand_in(tmp_path, operator):
    """A run on the stand-in has ASCEND_HOME_PATH, too: its headers would go with its cache."""
    home = tmp_path / "ascend"
    home.mkdir()
    (home / "include").symlink_to(STAND_IN)

    written = write(str(operator), environ={"ASCEND_HOME_PATH": str(home), "SHMEM_HOME_PATH": str(home)})

    assert (written.origin, written.home, written.notes) == ("stand-in", STAND_IN, ())
