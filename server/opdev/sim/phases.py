"""What the runner of phases asks of the stand-in: an environment for its steps, and how to build.

Here the operator's scripts run where they are.  SHMEM_REPO leads them to a tree in the cache that has
the user's custom-ops in it and the stand-in where SHMEM's install would be.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from opdev.sim.build import tree_of
from opdev.sim.root import root as stand_in_root
from opdev.sim.root import sim_cache
from opdev.sim.run import python_with_numpy
from opdev.sim.tools import find_tools
from opdev.sim.workspace import installed


def environment(root: str, run: str, n_pes: int) -> Mapping[str, str]:
    """Variables for every step of a run; ``root`` is the operator's folder, ``run`` the run's id.

    MissingToolError or RootError when the stand-in cannot be used here.
    """
    operator = Path(root).absolute()
    there = stand_in_root(find_tools())
    source = tree_of(operator)
    name = hashlib.sha256(f"{source}\0{there.path}\0{operator}".encode()).hexdigest()[:16]
    tree = sim_cache() / "trees" / name
    tree.mkdir(parents=True, exist_ok=True)
    # A machine without an operator is looked at from the root, which lies in nothing.
    for part in operator.relative_to(source).parts[:1]:
        if not (tree / part).is_symlink():
            (tree / part).symlink_to(source / part)
    installed(tree, there, operator / "build")
    found = there.environment()
    found["SHMEM_REPO"] = str(tree)
    found["SHMEM_HOME_PATH"] = str(tree / "install")
    found["OPDEV_SIM_RUN"] = run
    found["OPDEV_SIM_NPUS"] = str(max(8, n_pes))
    python = python_with_numpy(found)
    if python is not None and "PYTHON_CMD" not in os.environ:
        found["PYTHON_CMD"] = python
    return found


def build(root: str) -> Sequence[str]:
    """The command that builds the operator and puts its programs into ``<root>/build``."""
    return [sys.executable, "-m", "opdev.sim", "build", root, "--out", os.path.join(root, "build")]
