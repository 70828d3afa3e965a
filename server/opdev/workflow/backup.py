"""What stage 6 is about to change is kept in git, as callers of the existing hook ``pre-edit-backup`` expect.

A commit of that one file in the repository of the ``custom`` folder, which is made where there is none; other changes
of whoever works there are left alone.
"""

from __future__ import annotations

import os
import subprocess

from opdev.pypto.statefile import read
from opdev.pypto.states import RefusedError, current, retries

_STAGE = 6
_FOLDER = "custom"
_PATIENCE = 10.0
"""Seconds a git command may take: the hook has fifteen."""
_NOBODY = ("-c", "user.name=opdev", "-c", "user.email=opdev@localhost", "-c", "commit.gpgsign=false")


def kept(root: str, path: str) -> str:
    """Keep a file of an operator in stage 6; why it could not be kept, empty where it was or need not be."""
    try:
        state = read(root)
        if state is None or current(state) != _STAGE or not os.path.isfile(path):
            return ""
        attempt = retries(state, 5) + 1
    except RefusedError:
        return ""
    home = _home(root)
    try:
        if not os.path.isdir(f"{home}/.git"):
            _git(home, "init", "-q")
        _git(home, "add", "--", path)
        if not _git(home, "status", "--porcelain", "--", path).strip():
            return ""
        name = os.path.basename(path)
        _git(
            home,
            *_NOBODY,
            "commit",
            "-q",
            "--no-verify",
            "-m",
            f"backup: {name} before stage6 attempt {attempt}",
            "--",
            path,
        )
    except (OSError, subprocess.SubprocessError) as error:
        told = getattr(error, "stderr", None)
        return f"git: {told.decode('utf-8', 'replace').strip() if isinstance(told, bytes) and told.strip() else error}"
    return ""


def _home(root: str) -> str:
    """The nearest folder ``custom`` above an operator, else the operator."""
    at = root
    while at and at != os.path.dirname(at):
        if os.path.basename(at) == _FOLDER:
            return at
        at = os.path.dirname(at)
    return root


def _git(home: str, *words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=home, capture_output=True, timeout=_PATIENCE, check=True).stdout
