"""What stands where CANN and SHMEM would: headers, libraries, a compiler, tools.

One folder of the cache holds all of it, named after the contents of everything it is made from, so
that two versions of opdev never share one and a finished one is never changed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from opdev.sim.tools import Tools

HERE = Path(__file__).parent
INCLUDE = HERE / "include"
SOURCES = HERE / "src"
# Libraries of CANN and SHMEM that projects name; all of them are the one runtime.
LIBRARIES = (
    "shmem", "aclshmem", "ascendcl", "acl_rt", "runtime", "tiling_api", "platform", "register", "c_sec", "nnopbase", "opapi",
    "profapi", "ascendalog", "unified_dlog", "error_manager", "mmpa", "ascend_dump", "hcomm", "hccl", "ge_common_base",
    "graph_base", "msprofiler", "ascend_hal", "acl_op_compiler", "ascendc_runtime",
)  # fmt: skip
FLAGS = ("-std=gnu++17", "-O2", "-fPIC", "-pthread", "-Wall", "-Wextra")
_WORD = re.compile(rb"[A-Za-z_]\w*")


class RootError(Exception):
    """The stand-in's own code does not compile here; the text is the compiler's."""


def sim_cache() -> Path:
    """The stand-in's part of opdev's cache."""
    from opdev.rules.store import cache_folder

    return cache_folder().absolute() / "sim"


@dataclass(frozen=True)
class Root:
    """A finished folder: ``ascend`` is ASCEND_HOME_PATH, ``shmem`` what SHMEM installs, ``bin`` the tools."""

    path: Path

    @property
    def ascend(self) -> Path:
        return self.path / "ascend"

    @property
    def shmem(self) -> Path:
        return self.path / "shmem-install"

    @property
    def compiler(self) -> Path:
        return self.path / "bin" / "opdev-c++"

    @property
    def include(self) -> Path:
        return self.path / "include"

    @property
    def library(self) -> Path:
        return self.path / "lib"

    @property
    def toolchain(self) -> Path:
        return self.path / "cmake" / "toolchain.cmake"

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name the stand-in's headers declare."""
        return frozenset((self.path / "names.txt").read_text(encoding="utf-8").split())

    def environment(self) -> dict[str, str]:
        """The variables CANN's and SHMEM's set_env.sh would set, and the search paths."""
        here = dict(os.environ)
        path = [str(self.path / "bin"), here.get("PATH", os.defpath)]
        libraries = [str(self.library), *filter(None, [here.get("LD_LIBRARY_PATH")])]
        return {
            "ASCEND_HOME_PATH": str(self.ascend),
            "ASCEND_TOOLKIT_HOME": str(self.ascend),
            "ASCEND_OPP_PATH": str(self.ascend / "opp"),
            "CANN_SET_ENV": str(self.ascend / "set_env.sh"),
            "SHMEM_HOME_PATH": str(self.shmem),
            "PATH": os.pathsep.join(path),
            "LD_LIBRARY_PATH": os.pathsep.join(libraries),
            "OPDEV_SIM": "1",
        }


def root(tools: Tools) -> Root:
    """The folder for these tools, made if it is not there; RootError when the runtime does not compile."""
    home = sim_cache() / "root"
    final = home / _key(tools)
    made = Root(final)
    if (final / "names.txt").exists():
        return made
    home.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=home))
    try:
        _make(draft, final, tools)
        try:
            draft.rename(final)
        except OSError:
            if not (final / "names.txt").exists():  # somebody else was faster: theirs is the same
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return made


def _files(*tops: Path) -> Iterable[Path]:
    for top in tops:
        yield from sorted(p for p in top.rglob("*") if p.is_file() and "__pycache__" not in p.parts)


def digest(files: Iterable[Path], *more: str) -> str:
    """A name for the contents of files and some words."""
    total = hashlib.sha256()
    for file in files:
        total.update(os.fsencode(file.name) + b"\0" + file.read_bytes() + b"\0")
    for word in more:
        total.update(word.encode("utf-8", "surrogateescape") + b"\0")
    return total.hexdigest()[:20]


def _key(tools: Tools) -> str:
    scripts = [p for p in HERE.iterdir() if p.suffix in (".py", ".txt", ".cmake", ".in")]
    return digest(
        [*sorted(scripts), *_files(INCLUDE, SOURCES, HERE / "cmake")], tools.version, sys.executable, str(HERE)
    )


def _make(draft: Path, final: Path, tools: Tools) -> None:
    shutil.copytree(INCLUDE, draft / "include")
    (draft / "lib").mkdir()
    shutil.copy(_runtime(tools), draft / "lib" / "libopdev_sim.so")
    for name in LIBRARIES:
        (draft / "lib" / f"lib{name}.so").write_text("INPUT(-lopdev_sim)\n", encoding="ascii")
    _layout(draft, final)
    _programs(draft / "bin", final, tools)
    shutil.copytree(HERE / "cmake", draft / "cmake")
    for file in (draft / "cmake").iterdir():
        text = file.read_text(encoding="utf-8").replace("@OPDEV_SIM_ROOT@", final.as_posix())
        file.write_text(text, encoding="utf-8")
    names = _names(draft / "include", tools)
    (draft / "names.txt").write_text("\n".join(sorted(names)), encoding="utf-8")


def _runtime(tools: Tools) -> Path:
    """The runtime library, compiled once for the contents of its sources and headers."""
    home = sim_cache() / "runtime"
    final = home / f"{digest(_files(INCLUDE, SOURCES), tools.version, *FLAGS)}.so"
    if final.exists():
        return final
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".draft-", dir=home) as name:
        folder = Path(name)

        def compile_some(number: int) -> tuple[Path, str]:
            made = folder / f"{number}.o"
            unit = "".join(f'#include "{source.name}"\n' for source in sources[number::units])
            done = subprocess.run(
                [tools.compiler, *FLAGS, "-I", str(INCLUDE), "-I", str(SOURCES), "-c", "-x", "c++", "-", "-o", str(made)],
                input=unit, capture_output=True, text=True, errors="replace", check=False,
            )  # fmt: skip
            return made, done.stderr if done.returncode else ""

        # Most of the time goes into the headers of the library: few units, each of many sources.
        sources = sorted(SOURCES.glob("*.cpp"), key=lambda path: path.stat().st_size)
        units = min(os.cpu_count() or 1, 4)
        with ThreadPoolExecutor(max_workers=units) as pool:
            results = list(pool.map(compile_some, range(units)))
        trouble = "".join(text for _, text in results)
        if trouble:
            raise RootError(trouble)
        library = folder / "libopdev_sim.so"
        done = subprocess.run(
            [tools.compiler, "-shared", "-pthread", "-o", str(library), "-Wl,-soname,libopdev_sim.so",
             *[str(made) for made, _ in results], "-lrt", "-ldl"],
            capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        if done.returncode:
            raise RootError(done.stderr)
        library.replace(final)
    return final


def _layout(draft: Path, final: Path) -> None:
    """The folders projects look into, as links to the one include and the one lib folder."""
    for home in (draft / "ascend", draft / "shmem-install" / "shmem"):
        home.mkdir(parents=True)
        (home / "include").symlink_to(final / "include")
        (home / "lib").symlink_to(final / "lib")
        (home / "lib64").symlink_to(final / "lib")
    (draft / "ascend" / "bin").symlink_to(final / "bin")
    (draft / "ascend" / "opp").mkdir()
    deep = draft / "ascend" / "compiler" / "ccec_compiler"
    deep.mkdir(parents=True)
    (deep / "bin").symlink_to(final / "bin")
    (draft / "ascend" / "version.info").write_text("version=opdev-sim\n", encoding="ascii")
    said = 'echo "[SIM] simulated environment (opdev sim): no CANN, no NPU"\n'
    (draft / "ascend" / "set_env.sh").write_text(
        f"{said}export ASCEND_HOME_PATH={shlex.quote(str(final / 'ascend'))}\n"
        'export ASCEND_TOOLKIT_HOME="${ASCEND_HOME_PATH}" ASCEND_OPP_PATH="${ASCEND_HOME_PATH}/opp"\n',
        encoding="utf-8",
    )
    (draft / "shmem-install" / "set_env.sh").write_text(
        f"export SHMEM_HOME_PATH={shlex.quote(str(final / 'shmem-install'))}\n"
        'export LD_LIBRARY_PATH="${SHMEM_HOME_PATH}/shmem/lib:${LD_LIBRARY_PATH:-}"\n',
        encoding="utf-8",
    )


_SHIM = """#!{python}
import sys
sys.path[:] = {path!r}
from opdev.sim.{module} import main
sys.exit(main({final!r}, sys.argv))
"""


def _programs(folder: Path, final: Path, tools: Tools) -> None:
    folder.mkdir()
    (folder / ".gxx").write_text(tools.compiler, encoding="utf-8")
    python = sys.executable
    path = [str(HERE.parents[1]), *[entry for entry in sys.path if entry]]
    for name, module in (
        ("opdev-c++", "cxx"), ("bisheng", "cxx"), ("ccec", "cxx"), ("npu-smi", "shims"), ("msprof", "shims"),
    ):  # fmt: skip
        script = folder / f".{name}.py"
        script.write_text(_SHIM.format(python=python, path=path, module=module, final=str(final)), encoding="utf-8")
        # Through sh: a #! line takes neither long paths nor spaces.
        start = folder / name
        start.write_text(
            f'#!/bin/sh\nexec {shlex.quote(python)} -I {shlex.quote(str(final / "bin" / script.name))} "$0" "$@"\n',
            encoding="utf-8",
        )
        start.chmod(0o755)


def _names(include: Path, tools: Tools) -> set[str]:
    """What a unit that includes every public header declares, macros too."""
    public = [
        p.relative_to(include).as_posix() for p in _files(include) if "opdev_sim" not in p.relative_to(include).parts
    ]
    unit = "".join(f'#include "{name}"\n' for name in public)
    found: set[str] = set()
    for flags in (["-E", "-P"], ["-E", "-dM"]):
        done = subprocess.run(
            [tools.compiler, "-std=gnu++17", *flags, "-I", str(include), "-x", "c++", "-"],
            input=unit.encode(), capture_output=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise RootError(done.stderr.decode("utf-8", "replace"))
        found |= {word.decode() for word in _WORD.findall(done.stdout)}
    return found
