"""The text of .clangd: our fragment in a document of its own, a user's left as it is.

clangd reads a .clangd as several YAML documents and takes all of them, so ours can stand behind a user's.
"""

from __future__ import annotations

import re

import yaml

BEGIN, END = "# opdev clangd: begin", "# opdev clangd: end"
# A launch of what is not __global__ to clang; nothing else of the dialect needs silence, so real errors stay.
_OURS = f"{BEGIN}\nDiagnostics:\n  Suppress: [kern_call_not_global_function]\n{END}\n"
_PART = re.compile(rf"(?:^---[ \t]*\n)?^{re.escape(BEGIN)}\n.*?^{re.escape(END)}[ \t]*(?:\n|\Z)", re.M | re.S)


class ForeignError(ValueError):
    """A .clangd that is no YAML, or ours with its end cut off."""


def merged(text: str) -> str:
    """``text`` with our document in it, once; ForeignError when it cannot be read."""
    _documents(text)
    rest = _PART.sub("", text)
    if BEGIN in rest:
        raise ForeignError(f"`{END}` is missing")
    if not rest.strip():
        return _OURS
    return rest.rstrip("\n") + "\n---\n" + _OURS


def alone(text: str) -> bool:
    """Whether nothing but ours is in it."""
    return not _PART.sub("", text).strip()


def database_elsewhere(text: str) -> str:
    """Where a user's document tells clangd to look for commands instead; empty where it does not."""
    for document in _documents(text):
        flags = document.get("CompileFlags") if isinstance(document, dict) else None
        where = flags.get("CompilationDatabase") if isinstance(flags, dict) else None
        if isinstance(where, str) and where not in ("Ancestors", "."):
            return where
    return ""


def _documents(text: str) -> list[object]:
    try:
        return list(yaml.safe_load_all(text))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise ForeignError(f"YAML, line {mark.line + 1}" if mark else "YAML") from error
