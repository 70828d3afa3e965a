"""Endpoints in shell: where the PEs of a job meet, and who else could come there.

A literal endpoint works for whoever runs alone on the machine.  With a second job on it the PEs
join the wrong session or never meet, and nothing in the log says so.  The entry point for all
languages is here; what Python and C++ write stands in ``ports_python`` and ``ports_cpp``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks import endpoints, ports_cpp, ports_python
from opdev.checks.endpoints import IPPORT, SESSION
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import bash
from opdev.syntax.tree import ancestors, walk

if TYPE_CHECKING:
    from tree_sitter import Node

# The ranges the run-time environment of an operator draws its ports from.
_RANGES = {IPPORT: 27010, SESSION: 8899}
_DEFAULTED = re.compile(r"\$\{(?P<name>\w+|[@*])(?P<op>:?[-=])(?P<rest>.*)\}", re.DOTALL)
_HOST_AND_PORT = re.compile(
    r"(?P<scheme>tcp6?://)?(?P<host>\[[0-9A-Fa-f:]+\]|[A-Za-z][\w.-]*|[\d.]+):(?P<port>.+)", re.DOTALL
)
_CHANCE = re.compile(r"RANDOM|\$\$|BASHPID|PPID|SECONDS|EPOCH|UID\b|\$\((?!\()|`")
_VARIABLE = re.compile(r"\$\{?(\w+)|\b([A-Za-z_]\w*)\b")
_PRINTERS = {"echo", "printf", "log", "grep", "sed", "awk", "curl", "wget", "nc", "read", "usage", "info",
             "warn", "error", "fail", "die", "test", "["}  # fmt: skip
_LITERAL = re.compile(r"(?<![\w/.-])(?:tcp6?://)(?:\[[0-9A-Fa-f:]+\]|[A-Za-z0-9_.-]+):\d+(?![\w.])")
_LAUNCHERS = re.compile(rb"(?<![&>])&[ \t]*(?:#|\r?$)|\b(?:mpirun|mpiexec|torchrun|msprun)\b", re.MULTILINE)
# A job started by several calls of one script must find the same default in each of them.
_SPREAD = re.compile(rb"FIRST_(?:PE|RANK)|-fpe\b|-frank\b|NODE_RANK|node_rank|hostfile|RANK_ID|OMPI_COMM_WORLD_RANK")
_TELLTALE = (b"tcp://", b"tcp6://", b"ipport", b"ip_port", b"ip-port", b"sessionid", b"session_id", b"session-id")
_ENDPOINT_OPTION = re.compile(r"-{1,2}(?:ip[-_]?port|session[-_]id)")


def hardcoded_endpoint(context: Context) -> Iterator[Hit]:
    """A literal endpoint where the environment's IPPORT or SHMEM_UID_SESSION_ID should win."""
    if not context.holds(_worth_a_look):
        return
    if context.file.language == "python":
        yield from ports_python.hardcoded(context)
    elif context.file.language == "cpp":
        yield from ports_cpp.hardcoded(context)
    else:
        yield from _assigned(context)
        yield from _filled_in(context)
        yield from _handed_over(context)


def _worth_a_look(text: bytes) -> bool:
    text = text.lower()
    return any(word in text for word in _TELLTALE)


def _assigned(context: Context) -> Iterator[Hit]:
    for given in bash.assignments(context):
        variable = endpoints.variable_of(given.name)
        node = given.value_node
        if variable is None or node is None or _guarded(context, given.node, {given.name, variable}):
            continue
        if _is_default_for(context, given.name, variable):
            continue
        raw = given.raw
        literal = endpoints.parse(given.value) if given.value is not None else None
        if literal is not None:
            if literal.port and (variable == SESSION or literal.scheme or literal.numeric_host):
                fix = _fix(context, given, variable, given.value or "", loopback=literal.loopback)
                args = {"name": given.name, "value": given.value, "env": variable}
                yield Hit(node.start_byte, node.end_byte, args=args, fix=fix)
            continue
        loose = raw.strip("\"'")
        match = _DEFAULTED.fullmatch(loose)
        if match is not None:
            hit = _ignoring_default(context, node, match, variable)
            if hit is not None:
                yield hit
            continue
        found = _HOST_AND_PORT.fullmatch(loose)
        if found is None or (variable == IPPORT and not found["scheme"]):
            continue
        how = _port_is(context, found["port"])
        if how is not None:
            args = {"name": given.name, "value": loose, "env": variable}
            fix = Fix((Edit(node.start_byte, node.end_byte, f'"${{{variable}:-{loose}}}"'),), "keep")
            start, end = node.start_byte, node.end_byte
            if how == "computed":
                yield Hit(start, end, "computed", args, None if _again(given.node) else fix, severity="warning")
            else:
                yield Hit(start, end, args=args, fix=fix)


def _again(node: Node) -> bool:
    """Whether a value is computed anew each time: with a default round it the first would stay for all."""
    return bash.in_function(node) is not None or bash.in_loop(node) is not None


def _ignoring_default(context: Context, node: Node, match: re.Match[str], variable: str) -> Hit | None:
    """``${1:-tcp://…}``: a default that leaves an exported endpoint unread."""
    name, rest = match["name"], match["rest"].strip("\"'")
    if endpoints.parse(rest) is None or endpoints.variable_of(name) is not None:
        return None
    from_arguments = name.isdigit() or name in "@*"
    if not from_arguments and not any(a.name == name for a in bash.assignments(context)):
        return None
    begin = node.start_byte + context.text(node).index(rest)
    fix = Fix((Edit(begin, begin + len(rest.encode()), f"${{{variable}:-{rest}}}"),), "keep")
    args = {"name": variable, "value": rest, "env": variable}
    return Hit(begin, begin + len(rest.encode()), "option", args, fix)


def _port_is(context: Context, port: str, depth: int = 0) -> str | None:
    """How a port comes about: ``fixed``, ``computed`` (the same for the same arguments) or None."""
    return context.file.memo(("ports.port", port, depth), lambda: _port_comes(context, port, depth))


def _port_comes(context: Context, port: str, depth: int) -> str | None:
    port = re.sub(r"^\$\(\s*expr\s+(.*)\)$", r"$((\1))", port)
    if _CHANCE.search(port) or depth > 3:
        return None
    bare = re.fullmatch(r"\$\{?(\w+)\}?", port)
    if bare is not None:
        values = [a for a in bash.assignments(context) if a.name == bare[1]]
        kinds = {_port_is(context, a.raw.strip("\"'"), depth + 1) for a in values}
        return kinds.pop() if len(kinds) == 1 else None
    if port.isdigit():
        return "fixed" if int(port) else None
    if not re.search(r"\d{2,}", port) or ":-" in port or not port.startswith(("$((", *"0123456789")):
        return None
    for match in _VARIABLE.finditer(port):
        for given in bash.assignments(context):
            if given.name == (match[1] or match[2]) and (_CHANCE.search(given.raw) or ":-" in given.raw):
                return None
    return "computed" if "$" in port else None


def _fix(context: Context, given: bash.Assignment, variable: str, value: str, *, loopback: bool) -> Fix:
    node = given.value_node
    assert node is not None
    title = "keep"
    if loopback and not given.prefix and _computed_once(context, given.node):
        chance = "$$" if re.match(rb"#![^\n]*/(?:sh|dash)\b", context.data) else "RANDOM"
        value = f"{value.rpartition(':')[0]}:$(({_RANGES[variable]} + {chance} % 900))"
        title = "default"
    return Fix((Edit(node.start_byte, node.end_byte, f'"${{{variable}:-{value}}}"'),), title)


def _computed_once(context: Context, node: Node) -> bool:
    """Whether a port drawn here is drawn once a job: in the launcher, outside loops and functions."""
    file = context.file
    if not file.memo(
        "ports.launcher", lambda: not _SPREAD.search(file.data) and _LAUNCHERS.search(file.code) is not None
    ):
        return False
    return bash.in_loop(node) is None and bash.in_function(node) is None


def _guarded(context: Context, node: Node, names: set[str]) -> bool:
    """Whether a test of the variable decides about the assignment."""
    asked = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in sorted(names)).encode())
    inside = node
    for here in ancestors(node):
        if here.type in ("if_statement", "elif_clause", "case_statement"):
            stop = next((c.start_byte for c in here.children if c.type in ("then", "in")), here.start_byte)
            if asked.search(context.data, here.start_byte, stop):
                return True
        if here.type == "list" and asked.search(context.data, here.start_byte, inside.start_byte):
            return True
        if here.type in ("program", "compound_statement"):
            # `[[ -n "${IPPORT:-}" ]] && return` above.
            for start, text in _returning(context, here):
                if start >= inside.start_byte:
                    break
                if asked.search(text):
                    return True
            if bash.in_function(node) is None or here.type == "compound_statement":
                return False
        inside = here
    return False


def _returning(context: Context, block: Node) -> list[tuple[int, bytes]]:
    """(start, text) of the statements of a block that may return out of it."""

    def collect() -> list[tuple[int, bytes]]:
        found = (
            (c.start_byte, context.data[c.start_byte : c.end_byte])
            for c in block.named_children
            if c.type in ("list", "if_statement")
        )
        return [(start, text) for start, text in found if re.search(rb"\breturn\b", text)]

    return context.file.memo(("ports.returning", block.id), collect)


def _is_default_for(context: Context, name: str, variable: str) -> bool:
    """Whether the value only serves where the environment says nothing (``${IPPORT:-$DEFAULT}``)."""
    if name == variable:
        return False
    used = re.compile(rf"\$\{{\w+:?-\s*\"?\$\{{?{re.escape(name)}\b".encode())
    return context.file.memo(("ports.default", name), lambda: used.search(context.code) is not None)


def _filled_in(context: Context) -> Iterator[Hit]:
    """``printf -v IPPORT 'tcp://…:%d' 27010`` and ``read IPPORT <<< "tcp://…"``."""
    for command in bash.commands(context):
        if command.name == "printf" and len(command.words) > 3 and command.words[1].value == "-v":
            name, text = command.words[2].value or "", command.words[3].value
            for given in command.words[4:]:
                parts = re.split(r"%[ds]", text or "", maxsplit=1)
                text = given.loose.join(parts) if len(parts) == 2 else text
            place = (command.words[3].start, command.words[-1].end)
            fixable = False
        elif command.name == "read" and len([w for w in command.words if not w.raw.startswith("-")]) == 2:
            here = next((n for n in command.node.children if n.type == "herestring_redirect"), None)
            node = here.named_children[-1] if here is not None and here.named_children else None
            if node is None:
                continue
            name, text, place = (
                command.words[-1].loose,
                context.text(node).strip("\"'"),
                (node.start_byte, node.end_byte),
            )
            fixable = node.type in ("string", "raw_string", "word")
        else:
            continue
        variable = endpoints.variable_of(name)
        found = _HOST_AND_PORT.fullmatch(text) if variable is not None and text is not None else None
        if variable is None or found is None or _guarded(context, command.node, {name, variable}):
            continue
        if (variable == IPPORT and not found["scheme"]) or _is_default_for(context, name, variable):
            continue
        how = _port_is(context, found["port"])
        if how is not None:
            args = {"name": name, "value": text, "env": variable}
            fix = Fix((Edit(*place, f'"${{{variable}:-{text}}}"'),), "keep") if fixable else None
            if how == "computed":
                yield Hit(*place, "computed", args, None if _again(command.node) else fix, severity="warning")
            else:
                yield Hit(*place, args=args, fix=fix)


def _handed_over(context: Context) -> Iterator[Hit]:
    """Endpoints written into a command line or an array of arguments."""
    for command in bash.commands(context):
        name = command.effective_name
        if name in _PRINTERS or bash.is_echoed(command):
            continue
        for index, word in enumerate(command.words[1:], 1):
            before = command.words[index - 1].value or ""
            yield from _in_word(context, word.node, before, name or command.words[0].raw)
    for given in bash.assignments(context):
        node = given.value_node
        if node is not None and node.type == "array":
            before = ""
            for child in node.named_children:
                yield from _in_word(context, child, before, given.name)
                before = context.text(child)


def _in_word(context: Context, node: Node, before: str, command: str) -> Iterator[Hit]:
    if any(n.type in ("command_substitution", "process_substitution") for n in walk(node)):
        return
    text = context.data[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")
    value = text.strip("\"'")
    bare = endpoints.parse(value)
    option, _, tail = value.partition("=")
    if _ENDPOINT_OPTION.fullmatch(option) and endpoints.parse(tail) is not None:
        spans = [(text.index(tail), text.index(tail) + len(tail))]
    elif bare is not None and not bare.scheme and bare.numeric_host and bare.port and "--" not in before:
        spans = [(text.index(value), text.index(value) + len(value))] if _ENDPOINT_OPTION.fullmatch(before) else []
    else:
        ours = endpoints.variable_of(option) is not None  # env IPPORT=…, docker exec -e IPPORT=…
        found_here = [] if before in ("-H", "--host") else _LITERAL.finditer(text)
        spans = [m.span() for m in found_here if ours or not text[: m.start()].endswith(("-", "="))]
    for low, high in spans:
        found = text[low:high]
        if not (parsed := endpoints.parse(found)) or not parsed.port:
            continue
        start = node.start_byte + len(text[:low].encode("utf-8", "surrogateescape"))
        end = start + len(found)
        whole = node.type in ("word", "raw_string") and endpoints.parse(value) is not None
        leaf = context.file.root.descendant_for_byte_range(start, end)
        replacement = f"${{{IPPORT}:-{found}}}"
        fix = None
        if whole and parsed.scheme:
            fix = Fix((Edit(node.start_byte, node.end_byte, f'"{replacement}"'),), "keep")
        elif parsed.scheme and leaf is not None and leaf.type in ("string", "string_content"):
            fix = Fix((Edit(start, end, replacement),), "keep")
        yield Hit(start, end, "argument", {"command": command, "value": found, "env": IPPORT, "name": IPPORT}, fix)
