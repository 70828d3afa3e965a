"""Ending processes: only those this operator started.

Development machines with NPUs are shared.  A pattern that fits more than this operator's binary
ends a colleague's training, the editor that has the file open, or the script that runs it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from opdev.checks import shelltext
from opdev.checks.fences import introduced_as_wrong, marked_as_wrong
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import bash
from opdev.syntax.tree import ancestor, ancestors, walk
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_FINDERS = {"pgrep", "pidof", "ps", "lsof", "fuser"}
_PKILL_TAKES = {"-s", "--signal", "-u", "--euid", "-U", "--uid", "-G", "--group", "-t", "--terminal", "-F", "--pidfile"}
_OWN_FLAGS = re.compile(r"-[a-z]*[Pgs]$|--(?:parent|pgroup|session|pidfile)\b|-F$")
_BINARY_NAME = re.compile(r"BIN|EXE|PATH|DIR|PATTERN", re.IGNORECASE)
_NAME_ONLY = re.compile(r"^(?:OP|OP_NAME|OPERATOR|EXAMPLE|NAME|APP|APP_NAME|CASE|op|op_name|name)$")


@dataclass(frozen=True)
class _Kill:
    """A kill by pattern: what to look at, what it matches and by which tool."""

    start: int
    end: int
    pattern: str
    tool: str
    message: str = "default"
    command: bash.Command | None = None
    word: bash.Word | None = None


def unscoped_process_kill(context: Context) -> Iterator[Hit]:
    """pkill, killall and kill-by-search whose pattern fits more than this operator's processes."""
    if introduced_as_wrong(context):
        return
    if context.file.language == "python":
        kills = b"os.kill" in context.code and re.search(rb"\bos\.kill(?:pg)?\s*\(", context.code) is not None
        for text in shelltext.in_python(context):
            yield from (hit.moved(text.start) for hit in _hits(text.view, fixable=False))
            if kills:
                # `for pid in check_output(["pgrep", …]): os.kill(pid)`: the search is all shell sees.
                for found in _searches(text.view, text.view.file.root, context.place.operator):
                    yield _hit(context.place.operator, found, fixable=False).moved(text.start)
        return
    in_fence = "docs-fence" in context.kinds
    for hit in _hits(context):
        if not (in_fence and marked_as_wrong(context, hit.start)):
            yield hit


def _hits(view: View, *, fixable: bool = True) -> Iterator[Hit]:
    for kill in _kills(view, view.place.operator):
        yield _hit(view.place.operator, kill, fixable=fixable)
    for text in shelltext.in_shell(view):
        # Quotes inside quotes: a fix would have to know how many levels there are.
        yield from (hit.moved(text.start) for hit in _hits(text.view, fixable=False))


def _hit(operator: str | None, kill: _Kill, *, fixable: bool) -> Hit:
    fix = _narrowed(kill, operator) if fixable and operator is not None else None
    args = {"pattern": kill.pattern, "tool": kill.tool, "operator": operator or "<op>"}
    return Hit(kill.start, kill.end, kill.message, args, fix)


def _narrowed(kill: _Kill, operator: str) -> Fix | None:
    """``pkill -f demo`` becomes ``pkill -f 'build/bin/demo'``."""
    command, word = kill.command, kill.word
    if command is None or word is None or word.value is None:
        return None
    own = operator in word.value
    if not own and not re.fullmatch(r"(?:acl)?shmem\w*", word.value):
        return None
    words = shelltext.words_run(command)
    flags = [w.value or "" for w in words[1:] if (w.value or "").startswith("-")]
    name = (words[0].value or "").rsplit("/", 1)[-1]
    full = any(re.fullmatch(r"-[a-zA-Z]*f|--full", f) for f in flags)
    edits = [Edit(word.start, word.end, f"'build/bin/{operator}'" if full else f"-f 'build/bin/{operator}'")]
    if name == "killall":
        if not all(re.fullmatch(r"-(?:\d+|[A-Z]+)", f) for f in flags):
            return None
        edits.append(Edit(words[0].start, words[0].end, "pkill"))
    elif any(re.fullmatch(r"-[a-zA-Z]*x|--exact", f) for f in flags):
        return None
    return Fix(tuple(edits), applicability="safe" if own else "suggestion")


def _kills(view: View, operator: str | None) -> Iterator[_Kill]:
    docker = any(shelltext.words_run(c) != c.effective and c.effective_name != "ssh" for c in bash.commands(view))
    examined: dict[str, int] = {}
    for command in bash.commands(view):
        words = shelltext.words_run(command)
        name = ((words[0].value if words else None) or "").rsplit("/", 1)[-1]
        if any(w.value in ("-0", "-l", "--list") for w in words):
            continue
        if name in ("pkill", "killall"):
            on_host = docker and words == command.effective
            yield from _by_pattern(view, command, words, name, operator, docker=on_host)
        elif name in ("kill", "xargs"):
            yield from _by_search(view, command, words, name, operator, examined)
        elif name == "fuser" and any(re.fullmatch(r"-\w*k\w*|--kill", w.value or "") for w in words[1:]):
            yield _Kill(command.start, command.end, words[-1].loose, "fuser -k", "port")


def _by_pattern(
    view: View, command: bash.Command, words: tuple[bash.Word, ...], name: str, operator: str | None, *, docker: bool
) -> Iterator[_Kill]:
    patterns: list[bash.Word] = []
    skip = False
    for word in words[1:]:
        value = word.value
        if skip:
            skip = False
        elif value is not None and value.startswith("-") and value != "-":
            if _OWN_FLAGS.match(value) and name == "pkill":
                return
            skip = value in _PKILL_TAKES
        elif value is not None and re.fullmatch(r"0|\$\?", value):
            continue
        else:
            patterns.append(word)
    for word in patterns if name == "killall" else patterns[-1:]:
        if name == "pkill" and _is_own(view, word, operator):
            if docker:
                yield _Kill(command.start, command.end, word.loose, name, "host")
            continue
        yield _Kill(word.start, word.end, word.loose.strip(), name, "default", command, word)


def _by_search(
    view: View,
    command: bash.Command,
    words: tuple[bash.Word, ...],
    name: str,
    operator: str | None,
    examined: dict[str, int],
) -> Iterator[_Kill]:
    """``kill $(pgrep …)``, ``ps … | xargs kill``, ``for p in $(pgrep …); do kill $p``."""
    if name == "xargs" and not any((w.value or "") in ("kill", "/bin/kill") for w in words[1:]):
        return
    if name == "kill" and len(words) > 1 and words[-1].value == "-1" and len(words) > 2:
        yield _Kill(command.start, command.end, "-1", "kill", "everything")
        return
    if _asks_first(view, command.node):
        return
    for source in _sources(view, command, name, examined):
        yield from _searches(view, source, operator)


def _asks_first(view: View, node: Node) -> bool:
    """Whether somebody is asked before: ``read -p … && kill``."""
    scope = bash.in_function(node) or view.file.root
    first = view.file.memo(("process.asks", scope.id), partial(_first_question, view, scope))
    return first is not None and first < node.start_byte


def _first_question(view: View, scope: Node) -> int | None:
    for command in bash.commands_in(view, scope.start_byte, scope.end_byte):
        if command.name == "read" and any(
            (w.value or "").startswith("-") and "p" in (w.value or "") for w in command.args
        ):
            return command.start
    return None


def _sources(view: View, command: bash.Command, name: str, examined: dict[str, int]) -> Iterator[Node]:
    """Where the process ids come from; the values of a variable that an earlier kill had are not given again."""
    pipeline = command.pipeline or ancestor(command.node, "pipeline")
    if name == "xargs":
        if pipeline is not None:
            yield pipeline
        return
    for word in shelltext.words_run(command)[1:]:
        inner = [n for n in walk(word.node) if n.type in ("command_substitution", "process_substitution")]
        if inner:
            yield inner[0]
            continue
        named = re.match(r"^[\"']?\$\{?(\w+)", word.raw)
        if named is None:
            continue
        values = bash.assigned(view).get(named[1], [])
        before = bisect_left(values, command.start, key=lambda one: one.node.start_byte)
        for given in values[examined.get(named[1], 0) : before]:
            if given.value_node is not None:
                yield given.value_node
        examined[named[1]] = before
        for above in ancestors(command.node):
            if above.type == "for_statement" and (variable := above.child_by_field_name("variable")) is not None:
                if view.text(variable) == named[1]:
                    yield from above.children_by_field_name("value")
            elif above.type == "pipeline":
                read = view.file.memo(("process.read", above.id), partial(_read_in, view, above))
                if re.search(rb"\b" + named[1].encode(), read):
                    yield above


def _read_in(view: View, node: Node) -> bytes:
    """What stands behind each ``read`` of a node."""
    return b"\n".join(re.findall(rb"\bread\b([^\n;]*)", view.data[node.start_byte : node.end_byte]))


def _searches(view: View, source: Node, operator: str | None) -> Iterator[_Kill]:
    inside = [c for c in bash.commands_in(view, source.start_byte, source.end_byte) if c.end <= source.end_byte]
    names = {c.effective_name for c in inside}
    if not names & _FINDERS:
        return
    patterns: list[bash.Word] = []
    for command in inside:
        tool = command.effective_name
        if tool in ("lsof", "fuser"):
            yield _Kill(command.start, command.end, command.words[-1].loose, tool, "port")
            return
        if tool == "pgrep" and any(_OWN_FLAGS.match(w.value or "") for w in command.args):
            return
        if tool == "ps" and any((w.value or "") == "--ppid" for w in command.args):
            return
        if tool == "ps":
            patterns += [w for flag, w in pairwise(command.args) if flag.value == "-C"]
        if tool in ("pgrep", "pidof") or (tool in ("grep", "egrep") and "ps" in names):
            words = [w for w in command.effective[1:] if not (w.value or "").startswith("-")]
            inverted = any(re.fullmatch(r"-\w*v\w*|--invert-match", w.value or "") for w in command.args)
            patterns += [] if inverted else words[-1:]
        elif tool == "awk" and "ps" in names and (found := re.search(r"/([^/]+)/", command.words[-1].raw)):
            word = command.words[-1]
            if not any(_specific(p, operator) for p in [found[1]]):
                yield _Kill(word.start, word.end, found[1], "kill")
            return
    if any(_is_own(view, word, operator) for word in patterns):
        return
    for word in patterns[:1]:
        yield _Kill(word.start, word.end, word.loose.strip(), "kill")


def _is_own(view: View, word: bash.Word, operator: str | None) -> bool:
    """Whether a pattern can only fit this operator's binary or test."""
    text = word.loose.strip()
    if word.value is None:
        named = re.fullmatch(r"\$\{?(\w+)[^}]*\}?", text)
        if named is not None:
            own = view.file.memo(("process.own", named[1], operator), partial(_holds_own, view, named[1], operator))
            if own is not None:
                return own
            return not _NAME_ONLY.match(named[1].rstrip("_"))
        if _BINARY_NAME.search(text):
            return True
    return _specific(text, operator)


def _holds_own(view: View, name: str, operator: str | None) -> bool | None:
    """Whether all a variable is given fits this operator alone; None if it is given nothing."""
    values = [a.value for a in bash.assigned(view).get(name, []) if a.value]
    return all(_specific(value, operator) for value in values) if values else None


def _specific(pattern: str, operator: str | None) -> bool:
    return all(_one_specific(p, operator) for p in re.split(r"\\?\|", pattern.strip("()")))


def _one_specific(pattern: str, operator: str | None) -> bool:
    pattern = pattern.replace("[", "").replace("]", "").replace("\\", "")
    if re.search(r"(?:^|/|\b)build/bin/[\w$<{]", pattern) or "torch_test_" in pattern:
        return True
    if operator is None:
        return re.search(r"/bin/\w|\btest_\w+\.py", pattern) is not None
    return operator in pattern and ("/" in pattern or pattern.endswith((".py", ".sh")))
