"""Builds an operator with its own CMakeLists.txt, untouched, by the stand-in's compiler.

A build lives in the cache under the contents of what went into it: building the same operator again
costs nothing, and two builds of one operator never write into each other's folder.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from opdev.sim.root import Root, digest, sim_cache
from opdev.sim.tools import Tools

# What belongs to a run or to another build, not to the sources.
LEFT_OUT = frozenset(
    {
        "build",
        "data",
        "output",
        "golden",
        "install",
        ".git",
        ".cache",
        ".opdev",
        "__pycache__",
        "node_modules",
        "case_logs",
        "logs",
    }
)
_SOURCES = (".cpp", ".cc", ".cxx", ".asc", ".cce")
# A build reads none of these, and no hidden file (.clangd, .gitignore).
_NOT_READ = (".md", ".py", ".sh", ".json", ".log")
_LARGEST = 64 * 1024 * 1024
_KEPT = 40
_PROJECT = re.compile(r"^\s*project\s*\(", re.MULTILINE | re.IGNORECASE)
_COMMENT = re.compile(r"#[^\n]*")


class BuildError(Exception):
    """The build failed; the compiler's words were passed on.  ``status`` is its exit status."""

    def __init__(self, step: str, status: int) -> None:
        super().__init__(step, status)
        self.step = step
        self.status = status


@dataclass(frozen=True)
class Built:
    """A finished build folder (``bin`` and ``lib`` below it), and whether it was there before."""

    folder: Path
    fresh: bool
    how: str


def tree_of(operator: Path) -> Path:
    """The checkout an operator belongs to: the folder above custom-ops or examples, else the one above it."""
    for above in operator.parents:
        if above.name in ("custom-ops", "examples"):
            return above.parent
    return operator.parent


def source_files(folder: Path) -> Iterator[Path]:
    """Files of an operator that a build or a run may read, in a stable order."""
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
        for name in sorted(names):
            path = Path(top, name)
            if path.is_file() and path.stat().st_size <= _LARGEST:
                yield path


def build(
    operator: Path, root: Root, tools: Tools, *, out: Path | None = None, jobs: int | None = None,
    defines: Sequence[str] = (), say: Callable[[str], None] = print,
) -> Built:  # fmt: skip
    """Build ``operator`` in the cache and put its programs into ``out`` too; BuildError when a step fails.

    ``defines`` (``NAME=VALUE``) are for projects that cannot be configured without them; ``say`` gets every line of
    CMake's and the compiler's output.
    """
    built = _cached(operator, root, tools, jobs, tuple(defines), say)
    if out is not None:
        _deliver(built.folder, out)
    return built


def _deliver(folder: Path, out: Path) -> None:
    """Programs and libraries into a build folder of the user's, and nothing that would steer CMake there.

    They look older than anything else, so that a build for the device in the same folder links its own.
    """
    for name in ("bin", "lib"):
        for file in sorted((folder / name).glob("*")) if (folder / name).is_dir() else []:
            target = out / name / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copy(file, target)
            os.utime(target, (1, 1))


def _cached(operator: Path, root: Root, tools: Tools, jobs: int | None, defines: tuple[str, ...], say: Callable[[str], None]) -> Built:  # fmt: skip
    home = sim_cache() / "builds"
    code = [p for p in source_files(operator) if p.suffix not in _NOT_READ and not p.name.startswith(".")]
    final = home / f"{operator.name}-{digest(code, str(operator), root.path.name, *defines, *map(str, code))}"
    mark = final / ".built"
    if mark.exists():
        os.utime(final)
        return Built(final, False, mark.read_text(encoding="utf-8"))
    home.mkdir(parents=True, exist_ok=True)
    _forget_old(home)
    # CMake writes absolute paths, so a build cannot be moved: its folder is its own until it is marked.
    folder = Path(tempfile.mkdtemp(prefix=f"{operator.name}-", dir=home))
    try:
        how = _build(operator, folder, root, tools, jobs, defines, say)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    (folder / ".built").write_text(how, encoding="utf-8")
    try:
        final.symlink_to(folder.name)
    except FileExistsError:
        if not mark.exists():
            final.unlink()
            final.symlink_to(folder.name)
    return Built(final.resolve(), True, how)


def _forget_old(home: Path) -> None:
    folders = sorted((p for p in home.iterdir() if p.is_dir() and not p.is_symlink()), key=lambda p: p.stat().st_mtime)
    for old in folders[:-_KEPT]:
        shutil.rmtree(old, ignore_errors=True)
    for link in home.iterdir():
        if link.is_symlink() and not link.exists():
            link.unlink(missing_ok=True)


def _build(
    operator: Path, folder: Path, root: Root, tools: Tools, jobs: int | None, defines: tuple[str, ...],
    say: Callable[[str], None],
) -> str:  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    listing = operator / "CMakeLists.txt"
    if not listing.is_file():
        _direct(operator, folder, root, say)
        return "direct"
    source = operator
    how = "cmake"
    if not _PROJECT.search(_COMMENT.sub("", listing.read_text(encoding="utf-8", errors="replace"))):
        source = _driver(operator, folder, root)
        how = "cmake-in-tree"
    environment = {**os.environ, **root.environment(), "SHMEM_REPO": str(tree_of(operator))}
    _run(
        [tools.cmake, "--no-warn-unused-cli", "-S", str(source), "-B", str(folder), f"-DCMAKE_TOOLCHAIN_FILE={root.toolchain}",
         f"-DSHMEM_REPO={tree_of(operator)}", f"-DSHMEM_ROOT={root.shmem / 'shmem'}", "-DCMAKE_BUILD_TYPE=Release",
         f"-DCMAKE_RUNTIME_OUTPUT_DIRECTORY={folder / 'bin'}", f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={folder / 'lib'}",
         *[f"-D{define}" for define in defines]],
        environment, "configure", say,
    )  # fmt: skip
    _run([tools.cmake, "--build", str(folder), "-j", str(jobs or os.cpu_count() or 1)], environment, "build", say)
    return how


def _driver(operator: Path, folder: Path, root: Root) -> Path:
    """A project around an example that is only a part of one."""
    tree = tree_of(operator)
    source = folder / "driver"
    source.mkdir(exist_ok=True)
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.18)\n"
        f"project({re.sub(r'[^A-Za-z0-9_]', '_', operator.name)}_in_tree LANGUAGES CXX)\n"
        f'include("{root.toolchain.with_name("in_tree.cmake").as_posix()}")\n'
        # Examples name files of the checkout by this variable.
        f'set(PROJECT_SOURCE_DIR "{tree.as_posix()}")\n'
        f'add_subdirectory("{operator.as_posix()}" operator)\n',
        encoding="utf-8",
    )
    return source


def _direct(operator: Path, folder: Path, root: Root, say: Callable[[str], None]) -> None:
    """No CMakeLists.txt: every source of the operator, as one program named after it."""
    places = [operator / "src", operator] if (operator / "src").is_dir() else [operator]
    sources = sorted(p for place in places for p in place.iterdir() if p.suffix in _SOURCES)
    if not sources:
        say(f"{operator}: no CMakeLists.txt and no sources")
        raise BuildError("sources", 2)
    (folder / "bin").mkdir(exist_ok=True)
    environment = {**os.environ, **root.environment()}
    _run(
        [str(root.compiler), "-xcce", "-O2", *[f"-I{p}" for p in (operator, operator / "src", operator / "include") if p.is_dir()],
         *map(str, sources), "-o", str(folder / "bin" / operator.name)],
        environment, "build", say,
    )  # fmt: skip


def _run(command: list[str], environment: dict[str, str], step: str, say: Callable[[str], None]) -> None:
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace"
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            say(line.rstrip("\n"))
        status = child.wait()
    if status:
        raise BuildError(step, status)
