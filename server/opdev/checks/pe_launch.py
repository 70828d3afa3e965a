"""What a run script does: which commands start PEs, what its variables hold, what it sources.

A PE is started by the binary below ``build/bin`` (or, under the operator's name, directly below the
build folder), by a variable that holds its path, or by a wrapper (``msprof``, ``mpirun``) that is
given either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.syntax import bash
from opdev.syntax.view import View

_NAME = re.compile(r"\$\{?([A-Za-z_]\w*)")
_BINARY = re.compile(r"build/bin/(?!root_info_generate\b|shmem_unittest\b)")
_BUILD_FOLDER = r"(?:(?:^|/)(?:cmake-)?build(?:[-_]\w+)?|\$\{?\w*BUILD\w*\}?)/(?:Release/|Debug/)?"
_BINARY_NAMES = {"EXEC_BIN", "EXECUTABLE", "EXEC_PATH"}
_STARTERS = {"msprof", "mpirun", "mpiexec", "msdebug", "mssanitizer", "taskset", "numactl"}
_NOT_RUN = {
    "echo", "printf", "ls", "cp", "mv", "rm", "chmod", "file", "ldd", "mkdir", "cat", "cmake", "make", "test", "[",
    "source", ".", "readelf", "nm", "strip", "install", "cd", "export",
}  # fmt: skip


def values(view: View) -> dict[str, list[bash.Assignment]]:
    """Every assignment by variable name, in text order."""
    return bash.assigned(view)


def expanded(view: View, text: str, depth: int = 3) -> str:
    """``text`` without quotes and with the file's own variables filled in, as far as that goes."""
    text = text.replace('"', "").replace("'", "")
    if not depth or "$" not in text:
        return text
    known = values(view)

    def fill(match: re.Match[str]) -> str:
        given = known.get(match.group(1) or match.group(2))
        return expanded(view, given[-1].raw, depth - 1) if given else match.group()

    return re.sub(r"\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)", fill, text)


def binary_variables(view: View) -> frozenset[str]:
    """Variables that hold the path of a PE's binary."""

    def collect() -> frozenset[str]:
        found = {name for name in _BINARY_NAMES if name in values(view)}
        for name, given in values(view).items():
            if any(_is_binary(view, a.raw) for a in given) and name not in ("LD_LIBRARY_PATH", "PATH"):
                found.add(name)
        for name, given in values(view).items():
            if any(found & set(_NAME.findall(a.raw)) and not a.raw.startswith("$(") for a in given):
                found.add(name)
        return frozenset(found)

    return view.file.memo("pe_launch.binaries", collect)


def launches(view: View) -> list[bash.Command]:
    """The commands that start a PE, in text order."""
    return view.file.memo("pe_launch.launches", lambda: list(_launches(view)))


def _launches(view: View) -> Iterator[bash.Command]:
    held = binary_variables(view)
    for command in bash.commands(view):
        words = command.effective
        if not words or command.name in _NOT_RUN or command.effective_name in _NOT_RUN:
            continue
        started = words if command.effective_name in _STARTERS else words[:1]
        if any(_starts(view, word.raw, held) for word in started):
            yield command


def binary_range(view: View, command: bash.Command) -> tuple[int, int, str]:
    """Where a launch names the binary: range and text as written, without quotes."""
    held = binary_variables(view)
    words = command.effective
    for word in words:
        if _starts(view, word.raw, held):
            match = re.search(r"[^\s\"'=]*build/bin/[^\s\"']*", word.raw)
            if match is None or word is words[0]:
                return word.start, word.end, word.loose
            begin = word.start + len(word.raw[: match.start()].encode())
            return begin, begin + len(match.group().encode()), match.group()
    return words[0].start, words[0].end, words[0].loose


def _starts(view: View, raw: str, held: frozenset[str]) -> bool:
    return _is_binary(view, raw) or not held.isdisjoint(_NAME.findall(raw))


def _is_binary(view: View, raw: str) -> bool:
    """Whether a word is the path of an operator's binary."""
    if _BINARY.search(raw) is not None:
        return True
    operator = view.place.operator
    if operator is None or operator not in raw:
        return False
    # Without bin/ only the operator's own name says that it is no generator or helper.
    return (
        re.search(rf"{_BUILD_FOLDER}{re.escape(operator)}(?:_(?:hccl|baseline|main))?$", expanded(view, raw))
        is not None
    )


def sourced(view: View) -> list[tuple[bash.Command, bash.Word, str]]:
    """Every ``source``/``.`` command: command, the word with the path, the path as far as known."""

    def collect() -> list[tuple[bash.Command, bash.Word, str]]:
        return [
            (command, command.words[1], expanded(view, command.words[1].raw))
            for command in bash.commands(view)
            if command.name in ("source", ".") and len(command.words) > 1
        ]

    return view.file.memo("pe_launch.sourced", collect)


def is_shmem_env(path: str) -> bool:
    """Whether a sourced path sets up SHMEM's run time (and not CANN's)."""
    return "install/set_env.sh" in path or "shmem_runtime_env" in path or ("SHMEM" in path and "set_env.sh" in path)


def is_cann_env(path: str) -> bool:
    """Whether a sourced path is CANN's ``set_env.sh``."""
    if is_shmem_env(path):
        return False
    return "CANN_SET_ENV" in path or ("set_env.sh" in path and re.search("ascend|cann|toolkit", path, re.I) is not None)
