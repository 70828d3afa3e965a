"""Shell commands inside other text, as shell files whose offsets map back by one number.

``os.system("pkill -f demo")``, ``subprocess.run(["pkill", "-f", "demo"])`` and
``docker exec box bash -lc 'pkill -f demo'`` are the same command to the machine.  Quotes, brackets
and commas of Python become blanks and fields of f-strings become variables of the same length, so
that the text parses as shell where it stands.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opdev.kinds import Kind
from opdev.source import Source
from opdev.syntax import bash, py
from opdev.syntax.file import File
from opdev.syntax.tree import ancestor
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_RUNNERS = ("system", "popen", "run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput",
            "create_subprocess_shell")  # fmt: skip
# A module's `system` that is no call is common in kernels.
_RUNS = re.compile(rb"\b(?:%s)[ \t\r\n\\]*\(" % "|".join(_RUNNERS).encode())
_MODULES = ("os", "subprocess", "sp", "asyncio")
_TAKES_VALUE = {"-e", "--env", "-u", "--user", "-w", "--workdir", "--env-file", "--detach-keys", "-p", "-i", "-o", "-l"}
_OPEN = re.compile(rb"^[a-zA-Z]*(?:'''|\"\"\"|'|\")")


@dataclass(frozen=True)
class ShellText:
    """Embedded shell: ``start`` is where the text begins in the file around it."""

    view: View
    start: int


def words_run(command: bash.Command) -> tuple[bash.Word, ...]:
    """The words of the command that really runs: past ``docker exec box`` and ``ssh host`` too."""
    words = command.effective
    name = command.effective_name
    index = 1
    if name in ("docker", "podman", "nerdctl"):
        if len(words) < 2 or words[1].value != "exec":
            return words
        index = 2
    elif name != "ssh":
        return words
    while index < len(words) and (words[index].value or words[index].raw).startswith("-"):
        index += 2 if (words[index].value or "") in _TAKES_VALUE else 1
    return words[index + 1 :]


def in_python(context: View) -> Iterator[ShellText]:
    """Every command given to ``os.system``, ``subprocess.run`` and the like."""
    if not context.spans(_RUNS):
        return
    for call in py.calls(context, *_RUNNERS):
        module = call.dotted.rpartition(".")[0]
        if module and module not in _MODULES:
            continue
        given = call.args[0] if call.args else call.keywords.get("args")
        node = _resolved(context, given, call.node) if given is not None else None
        if node is None:
            continue
        text = _masked(context, node)
        if text is None:
            continue
        yield _text(context, text, node.start_byte)


def in_shell(view: View) -> Iterator[ShellText]:
    """The arguments of ``bash -c``, ``sh -lc``, ``eval`` and ``ssh host``, also behind ``docker exec``."""
    for command in bash.commands(view):
        names = [(w.value or "").rsplit("/", 1)[-1] for w in command.words]
        runs = [i for i, name in enumerate(names) if name in ("bash", "sh", "eval", "ssh")]
        if not runs:
            continue
        for index in range(runs[-1] + 1, len(command.words)):
            node = command.words[index].node
            after_c = re.fullmatch(r"-\w*c", names[index - 1]) is not None
            if node.type in ("raw_string", "string") and (after_c or names[runs[-1]] in ("eval", "ssh")):
                yield _text(view, view.data[node.start_byte + 1 : node.end_byte - 1], node.start_byte + 1)
                break


def _text(around: View, text: bytes, start: int) -> ShellText:
    file = File(Source(f"{around.file.path}#shell", text), Kind("bash", frozenset({"shell"})), around.place)
    return ShellText(View(file, 0, len(text)), start)


def _resolved(context: View, node: Node, use: Node) -> Node | None:
    """The command itself: where a name is given, the one value it has before."""
    if node.type == "call":
        return _unsplit(context, node)
    if node.type != "identifier":
        return node
    scope = ancestor(use, "function_definition") or context.file.root
    name = context.text(node)
    values = context.file.memo(("shelltext.values", name), lambda: _values(context, name))
    index = bisect_left(values, use.start_byte, key=lambda one: one[0]) - 1
    return values[index][1] if index >= 0 and values[index][0] >= scope.start_byte else None


def _values(context: View, name: str) -> list[tuple[int, Node | None]]:
    """What a name is assigned in the file: (offset of the name, value), in text order."""
    found: list[tuple[int, Node | None]] = []
    for at in context.find(name):
        here = context.file.root.named_descendant_for_byte_range(at, at + 1)
        parent = here.parent if here is not None else None
        if parent is not None and parent.type == "assignment" and parent.child_by_field_name("left") == here:
            found.append((at, parent.child_by_field_name("right")))
    return found


def _unsplit(context: View, node: Node) -> Node | None:
    """The text in ``"cmake ..".split()`` and ``shlex.split("cmake ..")``."""
    function = node.child_by_field_name("function")
    arguments = node.child_by_field_name("arguments")
    if function is None or arguments is None or not context.text(function).endswith(".split"):
        return None
    if context.text(function) == "shlex.split":
        return arguments.named_children[0] if arguments.named_children else None
    return function.child_by_field_name("object")


def _masked(context: View, node: Node) -> bytes | None:
    if node.type in ("string", "concatenated_string"):
        return _string(context, node)
    if node.type not in ("list", "tuple"):
        return None
    text = bytearray(b" " * (node.end_byte - node.start_byte))
    for child in node.named_children:
        low, high = child.start_byte - node.start_byte, child.end_byte - node.start_byte
        if child.type == "string" and py.string_value(context.file, child) is not None:
            inner = _string(context, child)
            opened = _OPEN.match(context.data[child.start_byte : child.end_byte])
            width = len(opened.group()) if opened else 1
            inner = inner[: width - 1] + b"'" + inner[width : len(inner) - 1] + b"'"
            text[low:high] = inner
        else:
            text[low:high] = _variable(high - low, context.data[child.start_byte : child.end_byte])
    return bytes(text)


def _string(context: View, node: Node) -> bytes:
    """A string's text with its quotes blank, same length."""
    text = bytearray(context.data[node.start_byte : node.end_byte])
    parts = [node] if node.type == "string" else [c for c in node.named_children if c.type == "string"]
    keep = bytearray(b" " * len(text))
    for part in parts:
        low, high = part.start_byte - node.start_byte, part.end_byte - node.start_byte
        opened = _OPEN.match(bytes(text[low:high]))
        width = len(opened.group()) if opened else 1
        quotes = width - len(opened.group().rstrip(b"'\"")) if opened else 1
        keep[low + width : high - quotes] = text[low + width : high - quotes]
        for child in part.named_children:
            begin, end = child.start_byte - node.start_byte, child.end_byte - node.start_byte
            if child.type == "interpolation":
                keep[begin:end] = _variable(end - begin, context.data[child.start_byte + 1 : child.end_byte - 1])
    return bytes(keep.replace(b"\\n", b" \n").replace(b"\\", b" "))


def _variable(size: int, name: bytes = b"") -> bytes:
    """A shell variable of ``size`` bytes, named after what stands there where that fits."""
    word = re.sub(rb"\W", b"_", name)[: size - 1]
    return (b"$" + word).ljust(size, b"_") if size > 1 else b"x"
