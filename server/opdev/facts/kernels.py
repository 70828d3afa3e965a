"""The kernels a C++ file defines, and where and with how many blocks host code launches them.

Everything is found in blanked text, so it holds while the file does not parse; the tree only says which
function a launch stands in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from opdev.facts.local_values import value
from opdev.syntax import cpp
from opdev.syntax.cpp_text import closing, split_args, squeeze
from opdev.syntax.file import File
from opdev.syntax.view import View

_ENTRY = re.compile(
    rb"\b(?:__global__|\w*SHMEM_GLOBAL\w*|CATLASS_GLOBAL)\b[^;{}]{0,400}?\bvoid[\s\\]+"
    rb"(?P<name>[A-Za-z_]\w*(?:\s*##\s*\w+)*)\s*\("
)
_MACRO = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)\((?P<params>[^()\n]*)\)(?P<body>(?:[^\n\\]|\\(?:\r?\n|[^\n]))*)",
    re.MULTILINE,
)
_OPENING = re.compile(rb"[\s\\]*\(")
_LAUNCH_MACRO = re.compile(rb"\bACLRT_LAUNCH_KERNEL\s*\(\s*(?P<name>[A-Za-z_]\w*)\s*\)\s*\(")
_NAME_BACK = re.compile(rb"[A-Za-z_]\w*\Z")
_LONGEST = 2000
"""Bytes of a launch's configuration or a macro's arguments: nobody writes longer ones."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: its text without blanks around it, and its place."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Macro:
    """A function-like macro: its name's place, its parameters, its body."""

    name: str
    start: int
    end: int
    params: tuple[str, ...]
    body_start: int
    body_end: int


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel entry.  ``[start, end)`` is its name, or the macro call that defines it.

    ``[whole_start, whole_end)`` is the definition from its qualifiers to the closing brace; of a declaration
    (``defined`` false) up to the closing parenthesis.  ``macro_args`` are the macro call's arguments.
    """

    name: str
    start: int
    end: int
    whole_start: int
    whole_end: int
    defined: bool
    macro: str = ""
    macro_args: tuple[Argument, ...] = ()


@dataclass(frozen=True, slots=True)
class Launch:
    """``kernel<targs><<<dim, …>>>``.  ``[start, end)`` is the kernel's name, ``dim`` the number of blocks.

    ``value`` is the number where constants of the file settle it; ``function`` the host function around it,
    ``parameter`` the index of its parameter that ``dim`` is, where it is one.
    """

    kernel: str
    targs: str
    start: int
    end: int
    dim: Argument
    value: int | None
    function: str
    parameter: int | None


@dataclass(frozen=True, slots=True)
class Launcher:
    """A host function that launches.  ``[start, end)`` is its name; ``dim`` its parameter that is the number of blocks."""

    name: str
    start: int
    end: int
    params: tuple[str, ...]
    dim: int | None
    kernels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HostCall:
    """A call of a host function: ``[start, end)`` is the callee's name."""

    name: str
    start: int
    end: int
    args: tuple[Argument, ...]


def macros(file: File) -> tuple[Macro, ...]:
    """The function-like macros, in text order."""

    def collect() -> tuple[Macro, ...]:
        found = []
        for match in _MACRO.finditer(file.code) if b"define" in file.code else ():
            params = tuple(p.strip().decode() for p in match["params"].split(b","))
            found.append(Macro(match["name"].decode(), *match.span("name"), params, *match.span("body")))
        return tuple(found)

    return file.memo("facts.macros", collect)


def kernels(file: File) -> tuple[Kernel, ...]:
    """The kernel entries, declarations among them, in text order."""

    def collect() -> tuple[Kernel, ...]:
        code = file.code
        found: list[Kernel] = []
        if b"_global__" not in code and b"_GLOBAL" not in code:
            return ()
        bodies = [m for m in macros(file) if _ENTRY.search(code, m.body_start, m.body_end)]
        inside = iter(bodies)
        macro = next(inside, None)
        for match in _ENTRY.finditer(code):
            while macro is not None and macro.body_end <= match.start():
                macro = next(inside, None)
            if macro is not None and macro.body_start <= match.start():
                found += _from_macro(file, macro, match["name"])
            else:
                found.append(_kernel(code, match))
        return tuple(sorted(found, key=lambda k: k.start))

    return file.memo("facts.kernels", collect)


def _kernel(code: bytes, match: re.Match[bytes]) -> Kernel:
    close = closing(code, match.end() - 1, min(len(code), match.end() + _LONGEST))
    stop = close + 1 if close >= 0 else match.end()
    brace = _next(code, stop)
    defined = code[brace : brace + 1] == b"{"
    end = _closing_brace(code, brace) if defined else stop
    name = match["name"].decode("utf-8", "replace")
    return Kernel(name, *match.span("name"), match.start(), end, defined)


def _from_macro(file: File, macro: Macro, name: bytes) -> Iterator[Kernel]:
    for start, end, args in macro_calls(file, macro):
        given = dict(zip(macro.params, (a.text for a in args), strict=False))
        parts = [part.strip().decode("utf-8", "replace") for part in name.split(b"##")]
        made = "".join(given.get(part, part) for part in parts)
        yield Kernel(made, start, end, start, end, defined=True, macro=macro.name, macro_args=args)


def macro_calls(file: File, macro: Macro) -> Iterator[tuple[int, int, tuple[Argument, ...]]]:
    """(start, end, arguments) of each use of a macro."""
    for at in View(file, 0, len(file.data)).find(macro.name):
        if at == macro.start:
            continue
        opened = _OPENING.match(file.code, at + len(macro.name))
        args = _arguments(file.code, opened.end() - 1) if opened else None
        if args is not None:
            yield at, args[1] + 1, args[0]


def launches(file: File) -> tuple[Launch, ...]:
    """The launches, in text order."""

    def collect() -> tuple[Launch, ...]:
        code, found = file.code, []
        at = code.find(b"<<<")
        while at >= 0:
            close = code.find(b">>>", at, at + _LONGEST)
            named = _callee(code, at)
            if close >= 0 and named is not None and b";" not in code[at:close]:
                dims = _split(code, at + 3, close)
                if dims:
                    found.append(_launch(file, *named, dims[0]))
            at = code.find(b"<<<", at + 3)
        for match in _LAUNCH_MACRO.finditer(code) if b"ACLRT_LAUNCH_KERNEL" in code else ():
            args = _arguments(code, match.end() - 1)
            if args is not None and args[0]:
                found.append(_launch(file, match["name"].decode(), "", *match.span("name"), args[0][0]))
        return tuple(sorted(found, key=lambda one: one.start))

    return file.memo("facts.launches", collect)


def _launch(file: File, name: str, targs: str, start: int, end: int, dim: Argument) -> Launch:
    function = cpp.function_at(file, start)
    if function is None:
        return Launch(name, targs, start, end, dim, number_at(file, dim.text, start), "", None)
    params = [n for _, n in cpp.parameters(file, function)]
    index = params.index(dim.text) if dim.text in params else None
    known = None if index is not None else number_at(file, dim.text, start)
    return Launch(name, targs, start, end, dim, known, cpp.function_name(file, function), index)


def number_at(file: File, text: str, at: int) -> int | None:
    """What an expression comes to where it stands: by the file's constants and locals given one value there."""
    return value(View(file, 0, len(file.data)), text, at)


def launchers(file: File) -> tuple[Launcher, ...]:
    """The host functions that launch, in text order."""

    def collect() -> tuple[Launcher, ...]:
        by_function: dict[int, list[Launch]] = {}
        for launch in launches(file):
            function = cpp.function_at(file, launch.start)
            if function is not None:
                by_function.setdefault(function.start_byte, []).append(launch)
        found = []
        for start, held in by_function.items():
            function = cpp.function_at(file, start)
            name = held[0].function
            at = file.code.find(name.encode(), start)
            if function is None or not name or at < 0:
                continue
            params = tuple(n for _, n in cpp.parameters(file, function))
            dims = {launch.parameter for launch in held}
            dim = dims.pop() if len(dims) == 1 else None
            names = tuple(dict.fromkeys(launch.kernel for launch in held))
            found.append(Launcher(name, at, at + len(name), params, dim, names))
        return tuple(found)

    return file.memo("facts.launchers", collect)


def host_calls(file: File, name: str) -> tuple[HostCall, ...]:
    """The calls of a function by its name, its own declarations left out, in text order."""

    def collect() -> tuple[HostCall, ...]:
        found = []
        for call in cpp.calls(View(file, 0, len(file.data)), name):
            opening = file.code.find(b"(", call.name_node.end_byte)
            args = _arguments(file.code, opening) if opening >= 0 else None
            if args is not None:
                found.append(HostCall(name, call.name_node.start_byte, call.name_node.end_byte, args[0]))
        return tuple(found)

    return file.memo(("facts.host_calls", name), collect)


def _callee(code: bytes, at: int) -> tuple[str, str, int, int] | None:
    """(name, template arguments, start, end) of what stands before ``<<<``."""
    begin = max(0, at - _LONGEST)
    head = code[begin:at].rstrip()
    targs = ""
    if head.endswith(b">"):
        depth = 0
        for index in range(len(head) - 1, -1, -1):
            depth += {62: 1, 60: -1}.get(head[index], 0)
            if depth == 0:
                targs = head[index + 1 : -1].decode("utf-8", "replace").strip()
                head = head[:index].rstrip()
                break
        else:
            return None
    # A name is short; the pattern must not look through all that stands before it.
    found = _NAME_BACK.search(head, max(0, len(head) - 200))
    if found is None:
        return None
    return found.group().decode(), targs, begin + found.start(), begin + found.end()


def _arguments(code: bytes, opening: int) -> tuple[tuple[Argument, ...], int] | None:
    """(arguments, offset of the closing parenthesis) of the call whose parenthesis opens there."""
    close = closing(code, opening, min(len(code), opening + _LONGEST))
    return (_split(code, opening + 1, close), close) if close >= 0 else None


def _split(code: bytes, start: int, end: int) -> tuple[Argument, ...]:
    found = []
    # One byte a character, so that places in the text are places in the file.
    for part in split_args(code[start:end].decode("latin-1")):
        text = part.strip()
        begin = start + len(part) - len(part.lstrip())
        found.append(Argument(squeeze(text), begin, begin + len(text)))
        start += len(part) + 1
    return tuple(found)


def _next(code: bytes, at: int) -> int:
    """Offset of the next byte that is neither blank nor a line's continuation."""
    while at < len(code) and code[at] in b" \t\r\n\\":
        at += 1
    return at


def _closing_brace(code: bytes, opening: int) -> int:
    depth = 0
    for match in re.compile(rb"[{}]").finditer(code, opening):
        depth += 1 if match.group() == b"{" else -1
        if depth == 0:
            return match.end()
    return len(code)
