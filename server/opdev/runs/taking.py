"""The data and outputs of a case that has just ended, before the next one writes over them.

Scripts begun by opdev keep them apart themselves.  Of any other script they are linked (no byte is copied) from the folder
of data that has the case's name, else from where the newest ``config.json`` lies, and count only where it is certain whose
they are: written since the step began; else since the case before ended, outputs after goldens; and none of it changed again
before it was judged.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field

from opdev.phases.model import both
from opdev.rules.model import Text

_NAME = re.compile(r"[^./\\\x00-\x1f][^/\\\x00-\x1f]{0,199}")
_COARSE = 0.02
"""Seconds by which a file's time may lag behind the clock."""
_MOST_FILES = 4096
_MOST_FOLDERS = 2000
_ELSEWHERE = frozenset({"logs", "perf"})
_GIVEN = re.compile(r"golden|input|expected|\.json\Z|\Aplan", re.IGNORECASE)
"""Names of files that a case begins with, in a folder that has its outputs, too."""

Stamp = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Taken:
    """A case's files in a folder of their own; ``size`` in bytes."""

    folder: str
    data: str
    output: str
    size: int
    stamps: dict[str, Stamp] = field(default_factory=dict)
    """Of files that somebody else may still write to."""

    @property
    def changed(self) -> bool:
        """Whether one of them was written to since it was taken."""
        return any(_stamp(path) != stamp for path, stamp in self.stamps.items())

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def take(root: str, folder: str, case: str, begun: float, since: float) -> Taken | Text:
    """The files of a case of the operator at ``root``, below ``folder``; else why there are none.

    ``begun`` and ``since`` (seconds since 1970) are when the step began and when the case before this one ended.
    """
    if not _NAME.fullmatch(case):
        return both(
            "用例名不能作目录名，输出没有留下", "the case's name cannot be a folder's: its outputs were not kept"
        )
    mine = f"{folder}/{case}"
    if os.path.isdir(mine):
        return Taken(mine, f"{mine}/data", f"{mine}/output", sum(os.stat(path).st_size for path in _files(mine)))
    named = _config(f"{root}/data/{case}")
    config, since = (named, begun) if named is not None else (_newest(f"{root}/data"), since)
    if config is None or config[0] < since - _COARSE:
        return both(
            "没有判断：脚本没有把这个用例的数据与输出留下来（OPDEV_CASES），data/ 下也没有它写的 config.json",
            "not judged: the script kept neither data nor outputs of this case (OPDEV_CASES), and it wrote no config.json below data/",
        )
    data = config[1]
    tag = data[len(root) + len("/data/") :]
    output = next((path for path in (f"{root}/output/{tag}", f"{root}/output") if os.path.isdir(path)), data)
    try:
        return _linked(mine, data, output, since, named=named is not None)
    except OSError as error:
        shutil.rmtree(mine, ignore_errors=True)
        why = error.strerror or str(error)
        return both(
            f"没有判断：这个用例的文件没有留住（{why}）",
            f"not judged: the files of this case could not be kept ({why})",
        )


def _linked(mine: str, data: str, output: str, since: float, *, named: bool) -> Taken | Text:
    stamps: dict[str, Stamp] = {}
    size = 0
    begun, written = 0, 0
    for source, name in ((data, "data"), (output, "output")):
        if name == "output" and output == data:
            break
        for path in _files(source):
            target = f"{mine}/{name}/{path[len(source) + 1 :]}"
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.link(path, target)
            stamp = stamps[target] = _stamp(target)
            size += stamp[1]
            if name == "data" and (output != data or _GIVEN.search(os.path.basename(path))):
                begun = max(begun, stamp[0])
            else:
                written = min(written or stamp[0], stamp[0])
    found = Taken(mine, f"{mine}/data", f"{mine}/data" if output == data else f"{mine}/output", size, stamps)
    if written < (since - _COARSE) * 1e9 or (written < begun and not named):
        found.remove()
        return both(
            "没有判断：输出不是这个用例写的，或已被下一个用例改写；让脚本把每个用例的输出分开放（OPDEV_CASES）",
            "not judged: its outputs are not of this case, or the next one has begun to write over them; let the script keep the outputs of each case apart (OPDEV_CASES)",
        )
    return found


def _stamp(path: str) -> Stamp:
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size


def _files(folder: str) -> Iterator[str]:
    count = 0
    for here, names, files in os.walk(folder):
        names[:] = [name for name in names if not name.startswith(".")]
        for name in files:
            path = f"{here}/{name}"
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            count += 1
            if count > _MOST_FILES:
                raise OSError(f"more than {_MOST_FILES} files in {folder}")
            yield path


def _config(folder: str) -> tuple[float, str] | None:
    try:
        return os.stat(f"{folder}/config.json").st_mtime, folder
    except OSError:
        return None


def _newest(folder: str) -> tuple[float, str] | None:
    """(when, folder) of the newest ``config.json`` below."""
    found: tuple[float, str] | None = None
    for count, (here, names, files) in enumerate(os.walk(folder)):
        names[:] = [name for name in names if not name.startswith(".") and name not in _ELSEWHERE]
        if "config.json" in files and (one := _config(here)) is not None:
            found = max(found, one) if found is not None else one
        if count > _MOST_FOLDERS:
            break
    return found
