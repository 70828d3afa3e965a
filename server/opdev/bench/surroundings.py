"""Whether the Python that verifies is still the same after an implementation ran in it.

The reference is computed by the same installation later: whoever changes that, changes what is true.  What is looked at is
when files were last changed in any way (``ctime``, which no program sets): modules that are imported by themselves, and
those of the packages that compute.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

_PACKAGES = ("torch", "torch_npu", "pypto", "numpy", "sympy", "encodings", "json", "importlib", "collections", "re")
_CODE = (".py", ".so", ".pth", ".pyd", ".zip")
_MOST = 60_000
Stamps = dict[str, tuple[int, int, int]]


def stamps(folders: Iterable[str]) -> Stamps:
    """``{path: (ctime, size, inode)}`` of code in the folders that modules are imported from."""
    found: Stamps = {}
    for path, entry in _files(folders):
        found[path] = (entry.st_ctime_ns, entry.st_size, entry.st_ino)
        if len(found) >= _MOST:
            break
    return found


def changed(before: Stamps, after: Stamps) -> list[str]:
    """Files that are new, gone or other."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def _files(folders: Iterable[str]) -> Iterator[tuple[str, os.stat_result]]:
    for folder in dict.fromkeys(folders):
        try:
            with os.scandir(folder) as entries:
                top = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in top:
            if entry.name.endswith(_CODE):
                yield from _stat(entry.path)
            elif entry.name in _PACKAGES:
                for inner, _, names in os.walk(entry.path):
                    for name in names:
                        if name.endswith(_CODE):
                            yield from _stat(f"{inner}/{name}")


def _stat(path: str) -> Iterator[tuple[str, os.stat_result]]:
    try:
        yield path, os.stat(path)
    except OSError:
        return
