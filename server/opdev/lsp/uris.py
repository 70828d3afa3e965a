"""``file:`` URIs and paths.

A client's URI is kept as it came and given back as it came: never resolved, never re-encoded,
because an editor compares the strings (VS Code writes ``file:///c%3A/…``, Neovim ``file:///C:/…``).
Paths are absolute with forward slashes, and a symlink stays one.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_to_bytes, urlsplit

_DRIVE = re.compile(r"/[A-Za-z]:")


def to_path(uri: str) -> str | None:
    """The path of a ``file:`` URI; None for any other scheme (``untitled:``, ``git:``)."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme.lower() != "file":
        return None
    path = unquote_to_bytes(parts.path).decode("utf-8", "surrogateescape")
    if _DRIVE.match(path):
        path = path[1].upper() + path[2:]
    if parts.netloc and parts.netloc != "localhost":
        path = f"//{parts.netloc}{path}"
    return path or None


def to_uri(path: str) -> str:
    """A ``file:`` URI for an absolute path with forward slashes."""
    raw = path.encode("utf-8", "surrogateescape")
    if path.startswith("//"):
        return "file:" + quote(raw, safe="/")
    lead = "" if path.startswith("/") else "/"
    return f"file://{lead}{quote(raw, safe='/:' if lead else '/')}"


def key_of(uri: str) -> str:
    """What two spellings of one URI have in common."""
    path = to_path(uri)
    return f"file:{path}" if path is not None else uri
