"""The state file on disk: read with its faults said, written whole or not at all, one writer at a time."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from typing import Any

from opdev.atomic import write_bytes
from opdev.pypto.patching import patched
from opdev.pypto.states import RefusedError, State

NAME = ".orchestrator_state.json"
_MOST_BYTES = 4_000_000
_SPECS = ("SPEC.md", "docs/SPEC.md", "SPEC/SPEC.md")


def path_of(root: str) -> str:
    return f"{root}/{NAME}"


def read(root: str) -> State | None:
    """An operator's state; None where there is no file.  Raises RefusedError for one that is no state."""
    path = path_of(root)
    try:
        with open(path, "rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RefusedError(
            "unreadable", f"{path} 读不了：{error.strerror}", f"{path} cannot be read: {error.strerror}"
        ) from None
    if len(data) > _MOST_BYTES:
        raise RefusedError("unreadable", f"{path} 太大，不是状态文件", f"{path} is too large for a state file")
    return parsed(data, path)


def parsed(data: bytes, path: str) -> State:
    """A state from its text; RefusedError names the file, the line and the fault."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            names = [k for k, _ in pairs]
            twice = next(k for k in names if names.count(k) > 1)
            raise RefusedError(
                "invalid", f"{path}：键 {twice} 写了两次，留一个", f"{path}: the key {twice} is given twice, keep one"
            )
        return found

    def number(text: str) -> Any:
        raise RefusedError("invalid", f"{path}：{text} 不是 JSON 的数", f"{path}: {text} is no number of JSON")

    try:
        found = json.loads(data.decode("utf-8-sig"), object_pairs_hook=once, parse_constant=number)
    except UnicodeDecodeError:
        raise RefusedError("invalid", f"{path} 不是 UTF-8", f"{path} is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise RefusedError(
            "invalid",
            f"{path}:{error.lineno}:{error.colno} 不是合法的 JSON（{error.msg}）",
            f"{path}:{error.lineno}:{error.colno} is no valid JSON ({error.msg})",
        ) from None
    except (RecursionError, ValueError) as error:
        if isinstance(error, RefusedError):
            raise
        raise RefusedError("invalid", f"{path} 读不了：{error}", f"{path} cannot be read: {error}") from None
    if not isinstance(found, dict):
        raise RefusedError("invalid", f"{path} 应是一个对象 {{…}}", f"{path} is to be an object, {{…}}")
    return found


def write(root: str, state: State) -> None:
    """Replace an operator's state, what did not change byte for byte as it was; OSError leaves the old one."""
    path, mark = path_of(root), b""
    try:
        with open(path, "rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        text = json.dumps(state, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    else:
        mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
        text = patched(data.decode("utf-8-sig"), parsed(data, path), state)
    write_bytes(path, mark + text.encode("utf-8", "surrogatepass"))


@contextlib.contextmanager
def locked(root: str) -> Iterator[None]:
    """Nobody else of ours changes the state meanwhile; RefusedError where somebody does."""
    try:
        import fcntl
    except ImportError:  # Windows: the file is replaced whole, which is what matters most.
        yield
        return
    # The folder itself is locked: nothing is left beside the operator, and nothing to go stale.
    handle = os.open(root, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RefusedError(
                "locked",
                "另一个 opdev state 正在改这个算子的状态：等它结束",
                "another `opdev state` is changing this operator's state: wait for it",
            ) from None
        yield
    finally:
        os.close(handle)


def spec_of(root: str) -> str | None:
    """The path of an operator's SPEC.md below it; None without one."""
    return next((name for name in _SPECS if os.path.isfile(f"{root}/{name}")), None)


def digest(path: str) -> str:
    """SHA-256 of a file's bytes, in hex."""
    with open(path, "rb") as stream:
        return hashlib.sha256(stream.read()).hexdigest()


def spec_changed(root: str, state: State) -> bool | None:
    """Whether SPEC.md differs from what stage 1 was completed with; None where nothing was recorded."""
    hashes = state.get("artifact_hashes")
    known = hashes.get("spec_md") if isinstance(hashes, dict) else None
    if not isinstance(known, str) or not known:
        return None
    spec = spec_of(root)
    return spec is None or digest(f"{root}/{spec}") != known.removeprefix("sha256:").lower()
