"""The programs the stand-in needs, found or named as missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

OLDEST = (11, 0)
_VERSION = re.compile(r"(\d+)\.(\d+)")


@dataclass(frozen=True)
class Tools:
    """g++ (path and version text) and cmake."""

    compiler: str
    version: str
    cmake: str


class MissingToolError(Exception):
    """A program is missing or too old; ``key`` names the text that says so, ``found`` what is there."""

    def __init__(self, key: str, found: str = "") -> None:
        super().__init__(key, found)
        self.key = key
        self.found = found


def find_tools() -> Tools:
    """The tools of this machine; MissingToolError for the first that is not there, ``CXX`` may name the compiler."""
    if not sys.platform.startswith("linux"):
        raise MissingToolError("no-linux", sys.platform)
    compiler = _compiler()
    if compiler is None:
        raise MissingToolError("no-compiler")
    version = subprocess.run([compiler, "-dumpfullversion"], capture_output=True, text=True, check=False).stdout.strip()
    match = _VERSION.match(version)
    if match is None or (int(match[1]), int(match[2])) < OLDEST:
        raise MissingToolError("old-compiler", f"{compiler} {version}")
    cmake = shutil.which("cmake")
    if cmake is None:
        raise MissingToolError("no-cmake")
    return Tools(compiler, version, cmake)


def _compiler() -> str | None:
    for name in (os.environ.get("OPDEV_SIM_CXX"), "g++", "g++-14", "g++-13", "g++-12", "g++-11"):
        found = shutil.which(name) if name else None
        if found:
            return found
    return None
