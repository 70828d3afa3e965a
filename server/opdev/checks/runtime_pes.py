"""What a run script does around its PEs: check the binary, bound the time, keep their output apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from opdev.checks.pe_launch import binary_range, expanded, launches, values
from opdev.checks.statements import lines_before, outer_statement, statement
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import bash
from opdev.syntax.tree import ancestors, walk

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_SECONDS = 120
_CHECKER = re.compile(r"(?:^|/)(?:check|verify|compare|result_compare)\w*\.py$|(?:^|/)\w*(?:compare|check|verify)\.py$")
_TOLERANCE_PLACEHOLDER = re.compile(rb"--(?:rtol|atol)[= ]*(?:<\w+>|\{\{\s*\w+\s*\}\})")
_EXPANDED = re.compile(rb"\$\{?(\w+)")
_PROFILERS = ("msprof", "msdebug", "mssanitizer")


def unchecked_executable(context: Context) -> Iterator[Hit]:
    """PEs started without asking whether the binary was built."""
    started = launches(context)
    if not started or re.search(
        rb"(?:\[\[?|test)\s+(?:!\s*)?-[xfe]\s[^\n]*(?:BIN|EXE|APP|BUILD|build/|bin/)", context.code
    ):
        return
    if re.search(rb"command\s+-v\s+[^\n]*BIN", context.code):
        return
    start, end, binary = binary_range(context, started[0])
    fix = None
    name = re.fullmatch(r"\$\{?(\w+)\}?", binary)
    given = values(context).get(name[1], []) if name else []
    if name and given and given[0].node.end_byte < start and " " not in given[-1].raw and "idx" not in given[-1].raw:
        variable = f"${{{name[1]}}}"
        fix = Fix(
            (
                lines_before(
                    context,
                    outer_statement(started[0].node),
                    f'if [[ ! -x "{variable}" ]]; then',
                    f'    echo "[ERROR] {variable} not found: build the operator first" >&2',
                    "    exit 1",
                    "fi",
                ),
            )
        )
    yield Hit(start, end, args={"binary": binary}, fix=fix)


def missing_timeout(context: Context) -> Iterator[Hit]:
    """PEs nobody ends when they hang, or a limit that is too long to notice."""
    for start, end, seconds in _limits(context):
        args = {"seconds": seconds, "most": MOST_SECONDS}
        yield Hit(start, end, "long", args, Fix((Edit(start, end, str(MOST_SECONDS)),), "long"))
    started = launches(context)
    if not started or _watched(context, started):
        return
    for command in started[:1]:
        word = command.words[0]
        fix = None
        if all(c.name not in bash.functions(context) for c in started):
            edits = [Edit(c.words[0].start, c.words[0].start, 'timeout "${TIMEOUT:-120}" ') for c in started]
            fix = Fix(tuple(edits))
        yield Hit(word.start, word.end, args={"most": MOST_SECONDS}, fix=fix)


def _limits(context: Context) -> Iterator[tuple[int, int, int]]:
    for match in re.finditer(rb"\bTIMEOUT=[\"']?(?:\$\{TIMEOUT:?-)?(\d+)", context.code):
        if int(match[1]) > MOST_SECONDS and "perf-script" not in context.kinds:
            yield match.start(1), match.end(1), int(match[1])
    started = {c.start for c in launches(context)}
    for command in bash.commands(context):
        if command.name == "timeout" and command.start in started:
            for word in command.args:
                digits = re.fullmatch(r"(\d+)s?", word.raw)
                if digits and int(digits[1]) > MOST_SECONDS:
                    yield word.start, word.start + len(digits[1]), int(digits[1])


def _watched(context: Context, started: list[bash.Command]) -> bool:
    if all(w.value == "timeout" for c in started for w in c.words[:1]):
        return True
    names = {c.name for c in bash.commands(context)}
    if {"sleep", "kill"} <= names or b"SECONDS" in context.code:
        return True
    return any(c.name == "timeout" for c in started) or "timeout" in names


def leftover_watchdog(context: Context) -> Iterator[Hit]:
    """A background ``sleep && kill`` that is still armed when the script is done."""
    for node in walk(context.file.root):
        if node.type not in ("subshell", "compound_statement") or not _in_background(node):
            continue
        inside = bash.commands_in(context, node.start_byte, node.end_byte)
        if not {"sleep", "kill"} <= {c.name for c in inside}:
            continue
        saved = _SAVED.match(context.code, node.end_byte)
        killed = context.file.memo("runtime_pes.killed", lambda: _killed(context.code))
        if killed.get(saved[1] if saved else b"", -1) >= node.end_byte:
            continue
        sleep = next(c for c in inside if c.name == "sleep")
        yield Hit(sleep.start, sleep.end)


_SAVED = re.compile(rb"\s*&\s*[;\n]?\s*(?:local\s+|declare\s+)?(\w+)=[\"']?\$!")
_KILLED = re.compile(rb"(?P<kill>\bkill\b)|\$\{?(?P<name>\w+)|(?P<job>\$!|%%|%\d)")


def _killed(code: bytes) -> dict[bytes, int]:
    """The last ``kill`` that is given each variable (under the empty name: a job as such)."""
    found: dict[bytes, int] = {}
    for line in re.finditer(rb"\bkill\b[^\n]*", code):
        last = line.start()
        for match in _KILLED.finditer(code, *line.span()):
            if match["kill"]:
                last = match.start()
            else:
                found[match["name"] or b""] = last
    return found


def _in_background(node: Node) -> bool:
    here: Node | None = node
    while here is not None and here.type in ("subshell", "compound_statement", "list", "redirected_statement"):
        sibling = here.next_sibling
        if sibling is not None and sibling.type == "&":
            return True
        here = here.parent
        if here is not None and here.type == "subshell":
            return False
    return False


def stale_output(context: Context) -> Iterator[Hit]:
    """Results of the last run left where the checker will look for those of this one."""
    started = launches(context)
    checkers = [
        c for c in bash.commands(context) if any(_CHECKER.search(w.loose) for w in c.words) and not bash.is_echoed(c)
    ]
    if not started or not checkers or checkers[-1].start < started[0].start:
        return
    first = started[0].start
    if any(c.effective_name in ("rm", "mktemp") and c.start < first for c in bash.commands(context)):
        return
    if re.search(
        rb"\b(?:OUTPUT|OUT|RUN|RESULT|LOG)\w*=[^\n]*(?:\$\(date|mktemp|\$\$|RANDOM|CASE)|\bfind\b[^\n]*-delete",
        context.code,
    ):
        return
    word = started[0].effective[0]
    fix = None
    for command in bash.commands(context):
        if command.name == "mkdir" and command.start < first and not bash.in_loop(command.node):
            folders = [w for w in command.args if re.fullmatch(r"\"?\$\{?\w*OUT\w*\}?\"?", w.raw)]
            if folders:
                name = re.findall(r"\w+", folders[0].raw)[0]
                fix = Fix((lines_before(context, statement(command.node), f'rm -rf "${{{name}:?}}"'),))
                break
    yield Hit(word.start, word.end, fix=fix)


def checker_without_tolerance(context: Context) -> Iterator[Hit]:
    """check_result.py called without --rtol and --atol, or with the template's place-holders."""
    for command in bash.commands(context):
        script = next((w for w in command.words if w.loose.endswith("check_result.py")), None)
        if (
            script is None
            or bash.is_echoed(command)
            or command.effective_name in ("cp", "ls", "test", "[", "chmod", "mv")
        ):
            continue
        whole = statement(command.node)
        text = context.data[whole.start_byte : whole.end_byte]
        holder = _TOLERANCE_PLACEHOLDER.search(text)
        if holder:
            begin = whole.start_byte + holder.start()
            shown = holder.group().decode()
            yield Hit(begin, begin + len(holder.group()), "placeholder", {"text": shown})
            continue
        given = " ".join(w.loose for w in command.words)
        if re.search(r"\$\{\w+\[@\]\}|\$@|\$\*", given) or re.search(
            r"(?:^| )\$\{?\w*(?:ARGS|OPTS|TOL)\w*\}?(?: |$)", given
        ):
            continue
        missing = [option for option in ("--rtol", "--atol") if not re.search(rf"(?:^| ){option}(?:[ =]|$)", given)]
        if missing:
            yield Hit(script.start, script.end, args={"missing": " / ".join(missing)})


def profiler_by_default(context: Context) -> Iterator[Hit]:
    """A correctness run that goes through the profiler unless told otherwise."""
    if {"perf-script", "baseline-script"} & context.kinds or "perf" in context.file.path.lower():
        return
    branch = re.compile(r"\$\{?(\w+)\}?\"?\s*(?:==?)\s*\"?(?:msprof|msdebug|mssanitizer)")
    tested = set(branch.findall(context.code.decode("utf-8", "replace")))
    for name, given in values(context).items():
        for assigned in given:
            node = assigned.value_node
            if node is None or any(
                a.type in ("case_item", "if_statement", "function_definition") for a in ancestors(assigned.node)
            ):
                continue
            value = re.fullmatch(r"(?:\$\{\w+:?-)?(msprof|msdebug|mssanitizer)\}?", assigned.raw.strip("\"'"))
            if value and (name in tested or re.search(r"TOOL|PROF", name)):
                new = '""' if not assigned.raw.strip("\"'").startswith("${") else f'"${{{name}:-}}"'
                fix = Fix((Edit(node.start_byte, node.end_byte, new),)) if _runs_without(context, name) else None
                yield Hit(node.start_byte, node.end_byte, args={"tool": value[1], "name": name}, fix=fix)
    for command in launches(context):
        tool = command.effective_name
        if tool in _PROFILERS and not any(
            a.type in ("if_statement", "case_item", "elif_clause", "else_clause", "function_definition")
            for a in ancestors(command.node)
        ):
            word = command.effective[0]
            yield Hit(word.start, word.end, "direct", {"tool": tool})
            return


def _runs_without(context: Context, name: str) -> bool:
    """Whether each test of the tool has another branch: without one, no tool means no PE either."""
    return name.encode() not in context.file.memo("runtime_pes.one_armed", lambda: _tested_without_else(context))


def _tested_without_else(context: Context) -> frozenset[bytes]:
    """Variables that an ``if`` without an ``else`` asks for."""
    found: set[bytes] = set()
    for node in walk(context.file.root):
        if node.type == "if_statement" and not any(c.type == "else_clause" for c in node.children):
            stop = next((c.start_byte for c in node.children if c.type == "then"), node.start_byte)
            found.update(_EXPANDED.findall(context.code, node.start_byte, stop))
    return frozenset(found)


def shared_output(context: Context) -> Iterator[Hit]:
    """PEs started in a loop that all write one and the same file."""
    for command in launches(context):
        loop = bash.in_loop(command.node)
        parent = command.node.parent
        if loop is None or not command.background or parent is None or parent.type != "redirected_statement":
            continue
        counters = context.file.memo(("runtime_pes.counters", loop.id), partial(_loop_variables, context, loop))
        for redirect in parent.named_children:
            target = redirect.child_by_field_name("destination") if redirect.type == "file_redirect" else None
            if target is None or not any(c.type in (">", "&>", ">|") for c in redirect.children):
                continue
            text = context.text(target)
            names = set(re.findall(r"\$\{?(\w+)", text)) | set(re.findall(r"\$\{?(\w+)", expanded(context, text)))
            inner = context.file.memo(("runtime_pes.inner", loop.id), partial(_assigned_in, context, loop))
            if (
                "/dev/" in text
                or names & (counters | inner)
                or "$(" in text
                or re.search(r"\$(?:\$|RANDOM|BASHPID)", text)
            ):
                continue
            yield Hit(target.start_byte, target.end_byte, args={"file": text.strip("\"'")})


def _assigned_in(context: Context, node: Node) -> set[str]:
    return {a.name for a in bash.assignments_in(context, node.start_byte, node.end_byte)}


def _loop_variables(context: Context, loop: Node) -> set[str]:
    found: set[str] = set()
    here: Node | None = loop
    while here is not None:
        if here.type == "for_statement":
            variable = here.child_by_field_name("variable")
            found |= {context.text(variable)} if variable is not None else set()
        elif here.type == "c_style_for_statement":
            head = context.code[here.start_byte : here.start_byte + 200].split(b"do", 1)[0]
            found |= {w.decode() for w in re.findall(rb"[A-Za-z_]\w*", head)} - {"for"}
        elif here.type in ("while_statement", "until_statement"):
            found |= _assigned_in(context, here)
            found |= {
                w.decode()
                for w in re.findall(rb"read\s+(?:-\w+\s+)*(\w+)", context.code[here.start_byte : here.end_byte])
            }
        here = bash.in_loop(here)
    return found
