"""run_case_matrix.py: it runs every case through run.sh, and its exit status is the verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import py
from opdev.syntax.tree import ancestor

_RUNS = ("run", "call", "Popen", "check_call", "check_output", "system")
_ASKS = re.compile(
    rb"\b(?:returncode|check_call|check_output|check_returncode|CalledProcessError|poll|wait)\b|\bcheck\s*=\s*True"
)
_TOOL = re.compile(
    r"""[\[(\s]*[rbf]*["'](?:sudo\s+)?(?:pkill|killall|kill|fuser|lsof|mkdir|rm|cp|mv|chmod|sleep|sync|npu-smi|git|date|hostname|uname|which|ls|cat)\b"""
)
# These raise when the command failed, which ends the script unless somebody catches it.
_RAISES = re.compile(rb"\bcheck_(?:call|output|returncode)\b|\bcheck\s*=\s*True")
_FAILS = re.compile(rb"\b(?:sys\.exit|os\._exit|SystemExit|raise|exit|quit)\b")


def _runs(context: Context) -> list[py.Call]:
    """What starts processes, less the tools that tidy up before and after the cases."""
    calls = (c for c in py.calls(context, *_RUNS) if c.dotted.split(".")[0] in ("subprocess", "os", "sp"))
    return [c for c in calls if not (c.args and _TOOL.match(context.text(c.args[0])))]


def case_failure_ignored(context: Context) -> Iterator[Hit]:
    """Cases are run without run.sh, or their failure reaches nobody."""
    runs = _runs(context)
    if not runs:
        return
    first = runs[0].node.child_by_field_name("function") or runs[0].node
    if b"run.sh" not in context.nocomment and b"run_matrix.sh" not in context.nocomment:
        yield Hit(first.start_byte, first.end_byte, "other", {"name": runs[0].dotted})
    if not _ASKS.search(context.code):
        for call in runs:
            statement = call.node.parent
            if call.name not in ("call", "system") or (
                statement is not None and statement.type == "expression_statement"
            ):
                yield Hit(call.start, call.end, "status", {"name": call.dotted}, _checked(call))
    elif not _FAILS.search(context.code) and not (_RAISES.search(context.code) and b"except" not in context.code):
        yield Hit(first.start_byte, first.end_byte, "default", {"name": runs[0].dotted})


def _checked(call: py.Call) -> Fix | None:
    """subprocess.run without check: the case's failure raises."""
    arguments = call.node.child_by_field_name("arguments")
    if call.name != "run" or arguments is None or "check" in call.keywords or not arguments.named_child_count:
        return None
    if ancestor(call.node, "try_statement") is not None:
        return None
    last = arguments.named_children[-1]
    return Fix((Edit(last.end_byte, last.end_byte, ", check=True"),)) if last.type != "comment" else None


def missing_case_report(context: Context) -> Iterator[Hit]:
    """A runner that writes no case_matrix_report.md."""
    if b"case_matrix_report" in context.nocomment:
        return
    runs = _runs(context)
    for call in runs[:1]:
        function = call.node.child_by_field_name("function") or call.node
        yield Hit(function.start_byte, function.end_byte)
