"""Whose word a program needs that a configuration names as ``engine`` or ``python`` of ``[run]``.

A workspace may be anybody's, fetched a minute ago: what it names is run where the user agreed, or where it is one of
the few words that mean the same everywhere (``podman``, ``python3.11``).  The user's own configuration needs no word.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from typing import Any

from opdev.config import read

_KNOWN = {"engine": re.compile(r"docker|podman|nerdctl"), "python": re.compile(r"python(?:3(?:\.\d{1,2})?)?")}


class NotAgreedError(ValueError):
    """A program that only a workspace names; ``key`` and ``shown`` say which, as it is written there."""

    def __init__(self, key: str, value: str | list[str]) -> None:
        self.key, self.shown = key, value if isinstance(value, str) else shlex.join(value)
        super().__init__(f"{key}: {self.shown}")


def own_path(environ: Mapping[str, str]) -> str:
    """The user's own configuration: nothing of a workspace reaches it."""
    base = environ.get("XDG_CONFIG_HOME") or os.path.join(environ.get("HOME") or os.path.expanduser("~"), ".config")
    return f"{base.rstrip('/')}/opdev/opdev.toml"


def own_settings(environ: Mapping[str, str]) -> Mapping[str, Any]:
    """What the user's own configuration says of runs; empty where there is none.  ConfigError for one that is wrong."""
    path = own_path(environ)
    return read(path).run if os.path.isfile(path) else {}


def named(key: str, workspace: Mapping[str, Any], own: Mapping[str, Any], agreed: bool | None = None) -> Any:
    """The program of ``engine`` or ``python``, the user's before the workspace's; None where none may be taken.

    ``agreed`` True takes the workspace's, False none but the known words, None raises NotAgreedError for others.
    """
    mine, theirs = own.get(key), workspace.get(key)
    if mine or not theirs:
        return mine or None
    if agreed or (isinstance(theirs, str) and _KNOWN[key].fullmatch(theirs)):
        return theirs
    if agreed is None:
        raise NotAgreedError(key, theirs)
    return None


def words(engine: str | list[str]) -> tuple[str, ...]:
    """A command as its words."""
    return tuple(shlex.split(engine)) if isinstance(engine, str) else tuple(engine)


def engine_of(workspace: Mapping[str, Any], environ: Mapping[str, str]) -> tuple[str, ...]:
    """The container engine where nobody can be asked."""
    return words(named("engine", workspace, own_settings(environ), agreed=False) or "docker")


def python_of(workspace: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """The Python where nobody can be asked."""
    return str(
        named("python", workspace, own_settings(environ), agreed=False) or environ.get("PYTHON_CMD") or "python3"
    )
