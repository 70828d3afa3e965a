"""Same-length blanking of what is not code: comments and strings become spaces.

Rules look for names in blanked text first (a C-speed search) and only then ask the tree, so a
name in a comment costs nothing and can never be a finding.  Line ends stay where they are.
"""

from __future__ import annotations

import re

# Every branch starts with a plain character: the regex engine then skips code at C speed.
_CPP = re.compile(
    rb"""(?P<c>/(?:/(?:[^\n\\]|\\[\s\S])*|\*[\s\S]*?(?:\*/|\Z)))"""
    rb"""|"(?:[^"\\\n]|\\[\s\S])*"?"""
    rb"""|'(?<![0-9A-Fa-f]')(?:[^'\\\n]|\\.)+'?"""
)
_RAW = re.compile(rb"""\bR"(?P<d>[^()\\\s]{0,16})\([\s\S]*?(?:\)(?P=d)"|\Z)""")
_HASH_PY = re.compile(
    rb"""(?P<s>[rbfuRBFU]{0,2}(?:\"\"\"[\s\S]*?(?:\"\"\"|\Z)|'''[\s\S]*?(?:'''|\Z)"""
    rb"""|"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?))|(?P<c>\#[^\n]*)"""
)
_KEEP = re.compile(rb"[^\r\n]")
_IF0 = re.compile(rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b([^\n]*)", re.MULTILINE)


def spaces(data: bytes) -> bytes:
    """``data`` with everything but line ends turned into spaces."""
    if b"\r" in data:
        return _KEEP.sub(b" ", data)
    if b"\n" not in data:
        return b" " * len(data)
    return b"\n".join([b" " * len(line) for line in data.split(b"\n")])


def blank_cpp(data: bytes) -> tuple[bytes, bytes]:
    """``(code, nocomment)``: without comments and strings, and without comments only.

    Text between ``#if 0`` and its ``#else``/``#endif`` is blank in both.
    """
    code: list[bytes] = []
    nocomment: list[bytes] = []
    raw = [m.span() for m in _RAW.finditer(data)] if b'R"' in data else []
    at = 0
    for match in _CPP.finditer(data):
        start, end = match.span()
        if start < at:
            continue
        while raw and raw[0][0] + 1 < start:
            raw.pop(0)
        if raw and raw[0][0] + 1 == start:
            start, end = raw.pop(0)
        between = data[at:start]
        gap = spaces(data[start:end])
        code += (between, gap)
        nocomment += (between, gap if match.lastgroup else data[start:end])
        at = end
    code.append(data[at:])
    nocomment.append(data[at:])
    out, kept = b"".join(code), b"".join(nocomment)
    if b"if 0" in out:
        for start, end in _dead(out):
            out = out[:start] + spaces(out[start:end]) + out[end:]
            kept = kept[:start] + spaces(kept[start:end]) + kept[end:]
    return out, kept


def _dead(code: bytes) -> list[tuple[int, int]]:
    """Ranges that ``#if 0`` switches off."""
    found: list[tuple[int, int]] = []
    depth = 0
    begin = -1
    for match in _IF0.finditer(code):
        word = match.group(1)
        if begin < 0:
            if word == b"if" and match.group(2).strip() == b"0":
                begin, depth = match.end(), 0
        elif word in (b"if", b"ifdef", b"ifndef"):
            depth += 1
        elif word == b"endif" and depth:
            depth -= 1
        elif depth == 0:
            found.append((begin, match.start()))
            begin = -1
    if begin >= 0:
        found.append((begin, len(code)))
    return found


def blank_python(data: bytes) -> tuple[bytes, bytes]:
    """``(code, nocomment)`` of Python text."""
    code: list[bytes] = []
    nocomment: list[bytes] = []
    at = 0
    for match in _HASH_PY.finditer(data):
        start, end = match.span()
        gap = spaces(data[start:end])
        code += (data[at:start], gap)
        nocomment += (data[at:start], gap if match.lastgroup == "c" else data[start:end])
        at = end
    code.append(data[at:])
    nocomment.append(data[at:])
    return b"".join(code), b"".join(nocomment)


_BASH = re.compile(
    rb"""(?P<esc>\\.)|(?P<dq>"(?:[^"\\\n]|\\.)*")|(?P<sq>'[^']*'?)|(?P<var>\$\{[^}\n]*\}?|\$\#)|(?P<c>(?:(?<=[\s;&|()])|(?<![\s\S]))\#[^\n]*)""",
)

_CMAKE = re.compile(
    rb"""(?P<esc>\\.)|(?P<dq>"(?:[^"\\]|\\[\s\S])*")|(?P<br>\[(?P<eq>=*)\[[\s\S]*?\](?P=eq)\])|(?P<sq>(?<!\w)'[^'\n]*')"""
    rb"""|(?P<var>\$\{[^}\n]*\}?)|(?P<c>(?:(?<=[\s;()])|(?<![\s\S]))\#[^\n]*)""",
)


def blank_bash(data: bytes) -> tuple[bytes, bytes]:
    """``(code, nocomment)`` of shell text; double-quoted text is code (it expands)."""
    return _hash_comments(data, _BASH)


def blank_cmake(data: bytes) -> tuple[bytes, bytes]:
    """``(code, nocomment)`` of CMake text (and YAML): an apostrophe in a word or in text quotes nothing."""
    out = re.sub(rb"\#\[(=*)\[[\s\S]*?\]\1\]", lambda m: spaces(m.group()), data)
    return _hash_comments(out, _CMAKE)


def _hash_comments(data: bytes, tokens: re.Pattern[bytes]) -> tuple[bytes, bytes]:
    out: list[bytes] = []
    at = 0
    for match in tokens.finditer(data):
        if match.lastgroup != "c":
            continue
        start, end = match.span()
        # A hash inside double quotes is text: an odd number of quotes stands before it on its line.
        line = data.rfind(b"\n", 0, start) + 1
        if tokens is _BASH and (data.count(b'"', line, start) - data.count(b'\\"', line, start)) % 2:
            continue
        out += (data[at:start], spaces(data[start:end]))
        at = end
    out.append(data[at:])
    text = b"".join(out)
    return text, text
