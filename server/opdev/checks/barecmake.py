"""Configuring an operator by hand instead of by the project's build entry point."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from opdev.checks import shelltext
from opdev.checks.fences import introduced_as_wrong, marked_as_wrong
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import bash, py
from opdev.syntax.tree import walk
from opdev.syntax.view import View

_NO_CONFIGURE = re.compile(
    r"--(?:build|install|open|version|help\S*|find-package|workflow|system-information)$|-[EPNLh]$"
)
_CMAKE_VARIABLE = re.compile(r"\"?\$\{?CMAKE(?:_COMMAND|_BIN|_EXE|_PROGRAM)?\}?\"?$")
_TAKES_VALUE = {"-G", "-C", "-D", "-U", "-T", "-A", "-W", "--toolchain", "--log-level", "--preset"}
_REPOSITORY = re.compile(r"\"?\$\{?\w*SHMEM_REPO")
_SAID = re.compile(r"\bcmake3?(?P<args>(?:\s+(?![&|;])[^\s\"'`;&|]+)+)")
_SAYING = {"print", "exit", "info", "warning", "error", "RuntimeError", "FileNotFoundError", "SystemExit"}


def bare_cmake(context: Context) -> Iterator[Hit]:
    """``cmake -S . -B build`` and its like where ``custom-ops/scripts/build.sh`` should be called."""
    if "wrapper-script" in context.kinds or introduced_as_wrong(context):
        return
    if "custom-ops" not in context.file.path.split("/") and not _is_of_shmem(context):
        return
    if context.file.language == "python":
        if b"cmake" not in context.data and b"CMAKE" not in context.data:
            return
        for text in shelltext.in_python(context):
            yield from (hit.moved(text.start) for hit in _configured(text.view, context, fixable=False))
        yield from _said_by_python(context)
        return
    for hit in (*_configured(context, context), *_said_by_shell(context)):
        if not ("docs-fence" in context.kinds and marked_as_wrong(context, hit.start)):
            yield hit


def _is_of_shmem(context: Context) -> bool:
    """Whether a file of an operator elsewhere speaks of SHMEM: others have no such entry point."""
    host = context.file.region.host if context.file.region is not None else context.file
    return context.place.operator is not None and b"shmem" in host.data.lower()


def _configured(view: View, context: Context, *, fixable: bool = True) -> Iterator[Hit]:
    operator = context.place.operator
    for command in bash.commands(view):
        words = shelltext.words_run(command)
        if words and words[0].raw == "$":  # a prompt copied into a fence
            words = words[1:]
        if not words or bash.is_echoed(command):
            continue
        name = (words[0].value or "").rsplit("/", 1)[-1]
        if name not in ("cmake", "cmake3") and not _CMAKE_VARIABLE.match(words[0].raw):
            continue
        places = _places(words[1:])
        if places is None or _by_the_book(view, places):
            continue
        args = {"command": _short(view.data[words[0].start : words[-1].end]), "operator": operator or "<op>"}
        hit = Hit(words[0].start, words[-1].end, args=args)
        if _from_variables(places) and _is_build_script(context):
            yield replace(hit, message="variables", severity="info")
            continue
        if fixable and operator is not None and not any(w.raw.startswith(("-D", "-G", "--preset")) for w in words):
            call = f'bash "${{SHMEM_REPO}}/custom-ops/scripts/build.sh" {operator}'
            hit = replace(hit, fix=Fix((Edit(hit.start, hit.end, call),)))
        yield hit
    for text in shelltext.in_shell(view):
        yield from (hit.moved(text.start) for hit in _configured(text.view, context, fixable=False))


def _places(words: tuple[bash.Word, ...]) -> list[str] | None:
    """The source and build folders a configure call names; None where nothing is configured."""
    places: list[str] = []
    expected = ""
    preset = False
    for word in words:
        raw = word.raw
        value = word.value if word.value is not None else raw
        if expected:
            if expected in ("-S", "-B", "-H"):
                places.append(raw)
            expected = ""
        elif _NO_CONFIGURE.fullmatch(value):
            return None
        elif value in ("-S", "-B", "-H") or value in _TAKES_VALUE:
            expected = value
            preset = preset or value == "--preset"
        elif re.match(r"\"?-[SBH].", raw) and not raw.startswith("--"):
            places.append(re.sub(r"^(\"?)-[SBH]", r"\1", raw))
        elif value.startswith("-"):
            preset = preset or value.startswith("--preset=")
        elif "@" in raw or "*" in raw:  # "$@", "${args[@]}": whatever the caller meant
            continue
        elif not word.raw.startswith((">", "<", "2>")):
            places.append(raw)
    return places or ([""] if preset else None)


def _by_the_book(view: View, places: list[str]) -> bool:
    """The documented form: source and build folder both below ``${SHMEM_REPO}``."""
    return len(places) >= 2 and all(_below_repository(view, place) for place in places)


def _below_repository(view: View, place: str) -> bool:
    if _REPOSITORY.match(place):
        return True
    named = re.match(r"\"?\$\{?(\w+)", place)
    given = [a.raw for a in bash.assignments(view) if named is not None and a.name == named[1]]
    return bool(given) and all(_REPOSITORY.match(raw) for raw in given)


def _from_variables(places: list[str]) -> bool:
    return all(re.match(r"\"?\$", place) for place in places)


def _is_build_script(context: Context) -> bool:
    stem = context.file.path.rsplit("/", 1)[-1]
    return "build-script" in context.kinds or stem.startswith(("build", "compile", "setup"))


def _said_by_shell(context: Context) -> Iterator[Hit]:
    """``echo "build first: cmake -S . -B build"`` and usage texts in here-documents."""
    for command in bash.commands(context):
        if bash.is_echoed(command):
            yield from _said(context, command.start, command.end)
    if b"<<" in context.code:
        for node in walk(context.file.root):
            if node.type == "heredoc_body" and _is_printed(context, node.start_byte):
                yield from _said(context, node.start_byte, node.end_byte)


def _is_printed(context: Context, offset: int) -> bool:
    line = context.data[context.data.rfind(b"\n", 0, offset - 1) + 1 : offset]
    return re.match(rb"\s*cat\b(?![^\n]*>(?!&))", line) is not None


def _said_by_python(context: Context) -> Iterator[Hit]:
    for call in py.calls(context, *_SAYING):
        yield from _said(context, call.start, call.end)


def _said(context: Context, start: int, end: int) -> Iterator[Hit]:
    text = context.data[start:end].decode("utf-8", "surrogateescape")
    for match in _SAID.finditer(text):
        words = match["args"].split()
        if any(_NO_CONFIGURE.fullmatch(w) for w in words):
            continue
        configures = [w for w in words if re.match(r"-[SBH]|\.\.?(?:/|$)", w)]
        if not configures or (all(_REPOSITORY.match(w) for w in words if "/" in w) and any("/" in w for w in words)):
            continue
        stop = match.start() + match[0].index(configures[-1], 5) + len(configures[-1])
        if configures[-1] in ("-S", "-B", "-H"):
            after = words.index(configures[-1]) + 1
            if after < len(words):
                stop = match.start() + match[0].index(words[after], stop - match.start()) + len(words[after])
        low = start + len(text[: match.start()].encode("utf-8", "surrogateescape"))
        high = start + len(text[:stop].encode("utf-8", "surrogateescape"))
        args = {"command": _short(context.data[low:high]), "operator": context.place.operator or "<op>"}
        yield Hit(low, high, "said", args, severity="info")


def _short(text: bytes) -> str:
    shown = " ".join(text.decode("utf-8", "replace").replace("\\\n", " ").split())
    return shown if len(shown) <= 60 else shown[:57] + "..."
