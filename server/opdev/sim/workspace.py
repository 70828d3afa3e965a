"""A run's own copy of the checkout, in which CANN and SHMEM seem to be installed.

Scripts find everything relative to themselves (``build/bin/<op>``, ``../../install/set_env.sh``,
``data/``, ``output/``), so a run gets a folder of that shape: the operator's files copied, its build
linked in, and the stand-in where SHMEM's install would be.  Nothing is written to the user's folder,
and two runs of one operator share nothing they write.
"""

from __future__ import annotations

import os
import shutil
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from opdev.sim.build import LEFT_OUT, source_files, tree_of
from opdev.sim.root import Root, sim_cache

_KEPT = 12
_RUN_SCRIPTS = ("scripts/run.sh", "run.sh")


@dataclass(frozen=True)
class Workspace:
    """The copy: ``tree`` is its SHMEM_REPO, ``operator`` the operator in it, ``name`` the run's id."""

    tree: Path
    operator: Path
    name: str

    def environment(self, root: Root) -> dict[str, str]:
        """Variables for everything that runs in here."""
        found = root.environment()
        found["SHMEM_REPO"] = str(self.tree)
        found["SHMEM_HOME_PATH"] = str(self.tree / "install")
        found["OPDEV_SIM_RUN"] = self.name
        return found

    def run_script(self) -> Path | None:
        """The operator's own run script."""
        return next((self.operator / name for name in _RUN_SCRIPTS if (self.operator / name).is_file()), None)


def workspace(operator: Path, build: Path, root: Root, folder: Path | None = None) -> Workspace:
    """Make the copy for one run, in ``folder`` or in the cache (where the last few are kept)."""
    name = f"{operator.name}-{time.strftime('%H%M%S')}-{uuid.uuid4().hex[:8]}"
    if folder is None:
        home = sim_cache() / "runs"
        home.mkdir(parents=True, exist_ok=True)
        _forget_old(home)
        folder = home / name
    source = tree_of(operator)
    inside = operator.relative_to(source)
    folder.mkdir(parents=True, exist_ok=True)
    _levels(source, folder, inside.parts)
    copy = folder / inside
    copy.mkdir(parents=True, exist_ok=True)
    for file in source_files(operator):
        target = copy / file.relative_to(operator)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, target)
    _link(copy / "build", build)
    installed(folder, root, build)
    return Workspace(folder, copy, name)


def _levels(source: Path, target: Path, parts: tuple[str, ...]) -> None:
    """What stands beside the operator's path: linked, but scripts copied, because they look for themselves."""
    for depth, part in enumerate(parts):
        target.mkdir(exist_ok=True)
        for entry in sorted(source.iterdir()):
            if (
                entry.name == part
                or entry.name in LEFT_OUT
                or (depth == 0 and entry.name in ("include", "version.info"))
            ):
                continue
            if entry.name == "scripts" and entry.is_dir():
                shutil.copytree(
                    entry, target / entry.name, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
                )
            else:
                _link(target / entry.name, entry)
        source, target = source / part, target / part


def installed(tree: Path, root: Root, build: Path) -> None:
    """The install folder of SHMEM, and the tree's own build with the operator's programs in it."""
    install = tree / "install"
    install.mkdir(exist_ok=True)
    _link(install / "shmem", root.shmem / "shmem")
    (install / "set_env.sh").write_text(
        # Also right when it is sourced under `set -u`.
        f'export SHMEM_HOME_PATH="{install}"\n'
        'export LD_LIBRARY_PATH="${SHMEM_HOME_PATH}/shmem/lib:${LD_LIBRARY_PATH:-}"\n',
        encoding="utf-8",
    )
    _link(tree / "include", root.include)
    (tree / "src").mkdir(exist_ok=True) if not (tree / "src").exists() else None
    _link(tree / "version.info", root.ascend / "version.info")
    if not (tree / "build").exists():
        (tree / "build").mkdir()
        _link(tree / "build" / "bin", build / "bin")
        _link(tree / "build" / "lib", build / "lib")


def _link(where: Path, to: Path) -> None:
    if not (where.is_symlink() or where.exists()):
        where.symlink_to(to)


def _forget_old(home: Path) -> None:
    folders = sorted((p for p in home.iterdir() if p.is_dir()), key=lambda p: p.stat().st_mtime)
    for old in folders[:-_KEPT]:
        # Somebody may still be looking at a run that has just ended.
        if time.time() - old.stat().st_mtime > 600:
            shutil.rmtree(old, ignore_errors=True)


def changed(work: Workspace, since: float) -> list[Path]:
    """Files the run wrote into the operator's copy, its build left out."""
    found = []
    for top, folders, names in os.walk(work.operator):
        folders[:] = [name for name in folders if not os.path.islink(os.path.join(top, name)) and name != "__pycache__"]
        found += [path for name in names if (path := Path(top, name)).stat().st_mtime >= since]
    return sorted(found)
