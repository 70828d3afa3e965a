"""Which headers clangd gets to see: CANN's and SHMEM's where they really are, else the stand-in's."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

MARK = "-DOPDEV_CLANGD=1"
"""In every command of ours, so that a compile_commands.json tells whose it is."""
OWN = (Path(__file__).parent / "include").as_posix()
STAND_IN = (Path(__file__).parents[1] / "sim" / "include").as_posix()
# The folders of CANN that operators are compiled with, below ASCEND_HOME_PATH and below its folder of the machine:
# tikcpp is where AscendC was, asc where it is since it has a repository of its own.
_CANN = (
    "asc/include", "asc/include/basic_api", "asc/include/adv_api", "asc/include/c_api", "asc/include/utils",
    "asc/include/simt_api", "asc/include/tiling", "asc/include/interface", "asc/impl/basic_api", "asc/impl/adv_api",
    "asc/impl/c_api", "asc/impl/simt_api", "asc/impl/utils", "asc",
    "compiler/tikcpp", "compiler/tikcpp/tikcfw", "compiler/tikcpp/tikcfw/impl", "compiler/tikcpp/tikcfw/interface",
    "tikcpp", "tikcpp/tikcfw", "tikcpp/tikcfw/impl", "tikcpp/tikcfw/interface",
    "include", "include/aclnn", "include/hcomm", "include/experiment/runtime", "include/experiment/msprof",
    "pkg_inc", "pkg_inc/profiling", "pkg_inc/runtime",
)  # fmt: skip
_KERNEL, _HOST, _SHMEM = "kernel_operator.h", "acl/acl.h", "shmem.h"
# What the device is to the headers: --cce-aicore-arch=dav-c220 (910B, 910C) and dav-c310 (950).
_DEVICE = {"dav-c220": ("220", "2201"), "dav-c310": ("310", "3510")}

Origin = Literal["stand-in", "cann"]


@dataclass(frozen=True, slots=True)
class Headers:
    """``flags`` come before an operator's own; ``home`` is what people know the headers by.

    ``why`` names the text that says why CANN's were not taken although CANN is there; empty otherwise.
    """

    origin: Origin
    home: str
    flags: tuple[str, ...]
    why: str = ""
    shadowed: tuple[str, ...] = ()
    """Folders an operator may name that must not be seen beside these headers."""


def headers(repo: str, environ: Mapping[str, str], arch: str = "", *, shmem: bool = True) -> Headers:
    """The headers for an operator of the checkout ``repo``.

    ``arch`` is the device as bisheng is told it (``dav-c220``); ``shmem`` whether the operator includes SHMEM's.
    """
    cann = _cann(environ)
    if cann is None:
        return _stand_in(repo)
    of_shmem = list(_of_shmem(repo, environ)) if shmem else []
    if shmem and not of_shmem:
        return _stand_in(repo, "no-shmem-headers")
    home, folders = cann
    aicore, npu = _DEVICE.get(arch.removesuffix("-vec").removesuffix("-cube"), _DEVICE["dav-c220"])
    flags = [
        "-include", f"{OWN}/opdev_clangd.h", "-include", f"{OWN}/opdev_clangd_cann.h",
        f"-D__CCE_AICORE__={aicore}", f"-D__NPU_ARCH__={npu}",
    ]  # fmt: skip
    # As system headers: what CANN does with its own language is not the user's to mend.
    for folder in (*of_shmem, *folders):
        flags += ["-isystem", folder]
    return Headers("cann", home, tuple(flags))


def _stand_in(repo: str, why: str = "") -> Headers:
    flags = ("-include", f"{OWN}/opdev_clangd.h", "-I", STAND_IN, "-I", OWN)
    return Headers("stand-in", STAND_IN, flags, why, (f"{repo}/include", f"{repo}/install/shmem/include"))


def _cann(environ: Mapping[str, str]) -> tuple[str, list[str]] | None:
    """CANN's folder and those of its headers; None where there is no kernel interface or no AscendCL in them."""
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        home = environ.get(name, "").rstrip("/")
        if not home:
            continue
        tops = (home, f"{home}/{platform.machine()}-linux")
        folders = [path for top in tops for part in _CANN if os.path.isdir(path := f"{top}/{part}")]
        kernel = _holding(folders, _KERNEL)
        # A run on the stand-in sets ASCEND_HOME_PATH too.
        if kernel and _holding(folders, _HOST) and not os.path.isdir(f"{kernel}/opdev_sim"):
            return home, folders
    return None


def _holding(folders: list[str], name: str) -> str:
    return next((folder for folder in folders if os.path.isfile(f"{folder}/{name}")), "")


def _of_shmem(repo: str, environ: Mapping[str, str]) -> Iterator[str]:
    """The folders of SHMEM's headers: of an installation, else of the checkout."""
    home = environ.get("SHMEM_HOME_PATH", "").rstrip("/")
    installed = [f"{home}/shmem/include", f"{home}/include"] if home else []
    for folder in (*installed, f"{repo}/install/shmem/include"):
        if os.path.isfile(f"{folder}/{_SHMEM}") and not os.path.isdir(f"{folder}/opdev_sim"):
            yield folder
            return
    if os.path.isfile(f"{repo}/include/{_SHMEM}"):
        yield f"{repo}/include"
        for below in ("src/device", "src/device_simt", "src"):
            if os.path.isdir(f"{repo}/{below}"):
                yield f"{repo}/{below}"
