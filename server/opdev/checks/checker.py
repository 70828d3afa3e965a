"""Result checkers: a checker that cannot fail, or says too little when it does, is worth nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.import_add import add_import, binds
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import py
from opdev.syntax.tree import ancestor, ancestors, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_CLOSE = ("allclose", "isclose", "assert_allclose", "assert_close")
_EXACT = ("array_equal", "equal", "hexdigest", "assert_array_equal")
_ENDS = re.compile(rb"\b(?:sys\.exit|os\._exit|SystemExit|raise|assert|quit|exit|unittest|pytest|assert_\w+)\b")
_VERDICT = re.compile(
    r"\b(?:FAIL(?:ED)?|ERROR|MISMATCH|PASS(?:ED)?|SUCCESS|wrong|correct)\b|失败|错误|不一致|通过|成功", re.IGNORECASE
)
_FAILURE = re.compile(r"FAIL|ERROR|MISMATCH|wrong|失败|错误|不一致", re.IGNORECASE)
_STATISTICS = {
    "MaxAE": re.compile(rb"(?i)(?<![a-z])max[\s_-]*a(?:bs(?:olute)?[\s_-]*)?e(?:rr(?:or)?)?(?![a-z])"),
    "MaxRE": re.compile(rb"(?i)(?<![a-z])(?:max[\s_-]*r(?:el(?:ative)?[\s_-]*)?e(?:rr(?:or)?)?|mare)(?![a-z])"),
    "MeanRE": re.compile(rb"(?i)(?<![a-z])(?:mean[\s_-]*r(?:el(?:ative)?[\s_-]*)?e(?:rr(?:or)?)?|mere)(?![a-z])"),
}
_SKIPPING = ("nanmax", "nanmean", "nansum")


def _comparison(context: Context) -> py.Call | None:
    """What decides on closeness: a call of allclose and its like, or |a - b| taken by hand."""
    close = py.calls(context, *_CLOSE)
    return close[0] if close else next(iter(_differences(context)), None)


def _differences(context: Context) -> list[py.Call]:
    found = []
    for call in py.calls(context, "abs", "absolute", "fabs"):
        if call.args and _is_difference(call.args[0]):
            found.append(call)
    return found


def _is_difference(node: Node) -> bool:
    return node.type == "binary_operator" and any(c.type == "-" for c in node.children)


def _is_script(context: Context) -> bool:
    return b"__main__" in context.nocomment or b"ArgumentParser" in context.code or b"sys.argv" in context.code


def verdict_without_exit_code(context: Context) -> Iterator[Hit]:
    """A script that compares and prints, and ends with status 0 whatever it found."""
    if not _is_script(context) or _ENDS.search(context.code):
        return
    compared = _comparison(context) or next(iter(py.calls(context, *_EXACT)), None)
    if compared is None:
        return
    dropped = _dropped(context)
    if dropped is not None:
        yield dropped
        return
    prints = [c for c in py.calls(context, "print") if _VERDICT.search(context.text(c.node))]
    failing = [c for c in prints if _FAILURE.search(context.text(c.node))]
    at = (failing or prints or [compared])[0].node
    yield Hit(at.start_byte, at.end_byte)


def _dropped(context: Context) -> Hit | None:
    """``main()`` at the end of the script, its verdict thrown away."""
    for call in py.all_calls(context):
        statement = call.node.parent
        if statement is None or statement.type != "expression_statement" or not py.is_module_level(call.node):
            continue
        kind = _verdict_kind(context, call.dotted)
        if kind is None:
            continue
        text = context.text(call.node)
        wrapped = f"sys.exit({text})" if kind == "status" else f"sys.exit(0 if {text} else 1)"
        edits = [Edit(call.start, call.end, wrapped)]
        if not binds(context, "sys"):
            added = add_import(context, "import sys")
            edits = [added, *edits] if added is not None else []
        return Hit(call.start, call.end, "dropped", {"name": call.dotted}, Fix(tuple(edits)) if edits else None)
    return None


def _verdict_kind(context: Context, name: str) -> str | None:
    """What a function of the file returns: an exit status, a truth value, or None for neither."""
    return context.file.memo("checker.verdicts", lambda: _verdict_kinds(context)).get(name)


def _verdict_kinds(context: Context) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in context.file.root.named_children:
        named = node.child_by_field_name("name") if node.type == "function_definition" else None
        if named is None or context.text(named) in found:
            continue
        returned = [
            context.text(r.named_children[0]) if r.named_child_count else ""
            for r in walk(node)
            if r.type == "return_statement" and py.function_of(r) == node
        ]
        if returned and all(text in ("0", "1") for text in returned) and "1" in returned:
            found[context.text(named)] = "status"
        elif returned and all(text in ("True", "False") for text in returned) and "False" in returned:
            found[context.text(named)] = "truth"
    return found


def optional_tolerance(context: Context) -> Iterator[Hit]:
    """``--rtol``/``--atol`` with a default, or a closeness test with numpy's own tolerances."""
    for call in py.calls(context, "add_argument"):
        name = next((py.string_value(context.file, a) for a in call.args if a.type == "string"), None)
        default = call.keywords.get("default")
        if name not in ("--rtol", "--atol") or default is None or context.text(default) == "None":
            continue
        keyword = default.parent
        if keyword is None:
            continue
        text = "required=True" if "required" not in call.keywords else ""
        fix = Fix((Edit(keyword.start_byte, keyword.end_byte, text),)) if text else None
        yield Hit(keyword.start_byte, keyword.end_byte, args={"name": name, "value": context.text(default)}, fix=fix)
    for call in py.calls(context, "allclose", "isclose", "assert_allclose"):
        splat = any(a.type in ("list_splat", "dictionary_splat") for a in call.node.children[-1].named_children)
        if len(call.args) == 2 and not splat and not {"rtol", "atol"} & call.keywords.keys():
            function = call.node.child_by_field_name("function") or call.node
            yield Hit(function.start_byte, function.end_byte, "implicit", {"name": call.dotted})


def missing_error_statistics(context: Context) -> Iterator[Hit]:
    """A float comparison that prints none, or not all, of MaxAE, MaxRE and MeanRE."""
    compared = _comparison(context) if _is_script(context) else None
    if compared is None:
        return
    missing = [name for name, said in _STATISTICS.items() if not said.search(context.nocomment)]
    if missing:
        function = compared.node.child_by_field_name("function") or compared.node
        yield Hit(function.start_byte, function.end_byte, args={"missing": ", ".join(missing)})


def unchecked_nan(context: Context) -> Iterator[Hit]:
    """A float comparison in a checker that never asks for NaN or inf."""
    words = context.file.words
    nan, inf = b"isnan" in words, b"isinf" in words
    compared = _comparison(context)
    if compared is None or b"isfinite" in words or (nan and inf):
        return
    function = compared.node.child_by_field_name("function") or compared.node
    close = compared.name in _CLOSE
    key = "partial" if nan or inf else "closeness" if close else "default"
    args = {"name": compared.dotted, "asked": "NaN" if nan else "inf", "missing": "inf" if nan else "NaN"}
    yield Hit(function.start_byte, function.end_byte, key, args, None, "warning" if close else None)


def nan_replaced(context: Context) -> Iterator[Hit]:
    """NaN or inf overwritten, or left out, before the comparison, by a checker that never tests for them."""
    if _tests_nan(context):
        return
    reported: set[object] = set()
    for start, end, name in sorted(_replacements(context)):
        node = context.file.root.named_descendant_for_byte_range(start, end - 1)
        function = py.function_of(node) if node is not None else None
        where = function.start_byte if function is not None else None
        if where not in reported:
            reported.add(where)
            yield Hit(start, end, "ignored" if name.endswith(_SKIPPING) else "default", {"name": name})


def _replacements(context: Context) -> Iterator[tuple[int, int, str]]:
    for call in py.calls(context, "nan_to_num", "nan_to_num_", "nanmax", "nanmean", "nansum"):
        yield call.start, call.end, call.dotted
    for call in py.calls(context, "where", "masked_fill", "masked_fill_"):
        first = call.args[0] if call.args else None
        if first is not None and len(call.args) > 1 and _asks_nan(context, first):
            yield call.start, call.end, call.dotted
    for call in py.calls(context, "isnan", "isinf", "isfinite"):
        subscript = ancestor(call.node, "subscript", "call", "expression_statement")
        assigned = subscript.parent if subscript is not None and subscript.type == "subscript" else None
        if assigned is None or assigned.type != "assignment":
            continue
        if assigned.child_by_field_name("left") == subscript:
            yield assigned.start_byte, assigned.end_byte, f"x[{call.name}(x)] = …"


def _asks_nan(context: Context, node: Node) -> bool:
    return re.search(r"\b(?:isnan|isinf|isfinite)\s*\(", context.text(node)) is not None


def _tests_nan(context: Context) -> bool:
    """Whether NaN or inf decide something: an if, an assert, a verdict."""
    for call in py.calls(context, "isnan", "isinf", "isfinite"):
        for above in ancestors(call.node):
            if above.type in ("if_statement", "elif_clause", "assert_statement", "return_statement", "while_statement"):
                return True
            if above.type in ("conditional_expression", "boolean_operator", "comparison_operator", "raise_statement"):
                return True
            if above.type == "call" and re.search(
                r"(?:array_equal|equal|count_nonzero|assert\w*)$", _callee(context, above)
            ):
                return True
            if above.type == "call" and re.fullmatch(r"(?:np|torch|numpy)\.where|where", _callee(context, above)):
                break
            if above.type == "attribute" and context.text(above).rpartition(".")[2] in ("any", "all", "sum"):
                return True
            if above.type == "call" and re.fullmatch(
                r"(?:np|torch|numpy)\.(?:any|all|sum)|any|all|sum", _callee(context, above)
            ):
                return True
            if above.type in ("block", "module"):
                break
    return False


def _callee(context: Context, call: Node) -> str:
    function = call.child_by_field_name("function")
    return context.text(function) if function is not None else ""


def low_precision_comparison(context: Context) -> Iterator[Hit]:
    """Operands of a comparison cast to float32 or less."""
    where = [
        call.node for call in (*py.calls(context, "allclose", "isclose", "assert_allclose"), *_differences(context))
    ]
    ranks = {node.id: rank for rank, node in reversed(list(enumerate(where)))}
    found: dict[int, list[tuple[Node, str, str]]] = {}
    for call in py.calls(context, "astype", "to"):
        kind = call.args[0] if call.args else None
        name = context.text(kind) if kind is not None else ""
        if (
            kind is None
            or not re.fullmatch(r"(?:np|numpy|torch)\.(?:float32|float16|half|float|single)", name)
            or name == "np.float"
        ):
            continue
        around = [ranks[a.id] for a in ancestors(call.node) if a.id in ranks and a.start_byte < call.start]
        if around:
            found.setdefault(where[min(around)].start_byte, []).append(
                (kind, name, name.rpartition(".")[0] + ".float64")
            )
    for casts in found.values():
        kind, name, wide = casts[0]
        fix = Fix(tuple(Edit(k.start_byte, k.end_byte, w) for k, _, w in casts))
        yield Hit(kind.start_byte, kind.end_byte, args={"type": name, "wide": wide}, fix=fix)


def allclose_as_only_criterion(context: Context) -> Iterator[Hit]:
    """allclose decides, and neither of the two statistics of the precision standard is computed."""
    if re.search(rb"\beb\b|eb_percent|error_balance|precision_percent|cal_precision", context.nocomment):
        return
    for call in py.calls(context, "allclose"):
        function = call.node.child_by_field_name("function") or call.node
        yield Hit(function.start_byte, function.end_byte, args={"name": call.dotted})
        return


def truncated_read(context: Context) -> Iterator[Hit]:
    """``fromfile(..., count=n)`` where nothing compares the file's size with n."""
    if re.search(rb"getsize|st_size|\.(?:size|nbytes)\s*(?:[!=]=|[<>])|[!=]=\s*\w+\.(?:size|nbytes)\b", context.code):
        return
    for call in py.calls(context, "fromfile"):
        count = call.keywords.get("count") or (call.args[2] if len(call.args) > 2 else None)
        if count is None or context.text(count) == "-1":
            continue
        expected = re.search(r"expect", context.text(count)) is not None
        place = count.parent if count.parent is not None and count.parent.type == "keyword_argument" else count
        args = {"count": context.text(count)}
        yield Hit(place.start_byte, place.end_byte, args=args, severity="info" if expected else None)
