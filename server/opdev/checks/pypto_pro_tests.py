"""``test_<op>.py`` of a PyPTO-Pro operator, delivered or staged: imports, its kernel, its cases, how it compares."""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.statements import line_removed
from opdev.facts.pypto_kernels import functions
from opdev.facts.pypto_names import Named, first_code, impl_imports, test_functions
from opdev.facts.pypto_pro import generation, language_aliases, traced
from opdev.facts.pypto_pro_host import is_staged, pro_test
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related, Severity
from opdev.syntax import py
from opdev.syntax.tree import ancestor, span

if TYPE_CHECKING:
    from tree_sitter import Node

_LOADERS = ("import_module", "__import__")
_CASES = 4
_CLOSE = ("assert_close", "assert_allclose", "allclose", "isclose")
_TOLERANCES = ("rtol", "atol", "atol_override", "rtol_override")
_DEVICE = re.compile(r"(?:npu|cuda)(?::\d+)")
_VARIABLE = "TILE_FWK_DEVICE_ID"
_RESULT = re.compile(
    rb"\bVALIDATED\b|\b(?:max_abs_(?:diff|error|err)|matched_ratio|max_rel_(?:diff|error|err))[ \t]*[=:][ \t]*[\d.]"
    rb"|(?i:\b(?:all )?tests? passed\b)|(?i:\bverified on (?:npu|device|hardware)\b)"
)
_REFERENCE = re.compile(rb"\b\w*(?:golden|reference)\w*(?=[ \t]*\()")
_STAGE = re.compile(r"test_\w+_module\d*")


def _test(context: Context, *, delivered: bool = False) -> Named | None:
    name = pro_test(context.file, context.project)
    return None if name is None or (delivered and is_staged(context.file, name)) else name


def _where(context: Context) -> tuple[int, int]:
    """The first test's name, else the first line of code."""
    first = next(iter(test_functions(context.file).values()), None)
    return span(first) if first is not None else first_code(context.file)


def _strict(context: Context) -> Severity | None:
    """How much a convention of operators weighs: outside of one it is for information only."""
    return None if context.project is not None else "info"


def _literal(context: Context, call: py.Call) -> str | None:
    return py.string_value(context.file, call.args[0]) if call.args else None


def missing_import(context: Context) -> Iterator[Hit]:
    """A test without ``import pypto_pro.language as pl``."""
    if _test(context) is None or impl_imports(context.file) or not functions(context.file):
        return
    aliases = language_aliases(context.file)
    if "pl" in aliases:
        for one in py.imports(context):
            if one.module == "pypto_pro" and one.name == "language":
                alone = len([o for o in py.imports(context) if o.node == one.node]) == 1
                fix = (
                    Fix((Edit(*span(one.node), "import pypto_pro.language as pl"),))
                    if alone and one.bound == "pl"
                    else None
                )
                yield Hit(*span(one.node), "form", {"written": context.text(one.node)}, fix, "warning")
        return
    if not aliases:
        if context.project is not None or traced(context):
            yield Hit(*first_code(context.file))
        return
    for one in py.imports(context):
        if one.bound in aliases or (one.module == "pypto_pro.language" and one.name is None):
            yield Hit(*span(one.node), "alias", {"written": context.text(one.node), "alias": min(aliases)})


def classic_import(context: Context) -> Iterator[Hit]:
    """Classic PyPTO in a test of PyPTO-Pro, in any form."""
    if _test(context) is None:
        return
    every = py.imports(context)
    names = Counter(one.node.start_byte for one in every)
    ours = [one for one in every if one.module.split(".")[0] == "pypto"]
    # Used means: named anywhere but in the imports themselves.
    used = sum(1 for _ in context.find("pypto")) > sum(context.text(one.node).count("pypto") for one in _first(ours))
    for one in _first(ours):
        plain = one.name is None and one.bound == "pypto" and names[one.node.start_byte] == 1
        fix = Fix((line_removed(context, one.node),)) if plain and not used else None
        yield Hit(*span(one.node), "default", {"written": context.text(one.node)}, fix, _strict(context))
    for call in py.calls(context, *_LOADERS, *_renamed_loaders(context)):
        value = _literal(context, call)
        if value is not None and value.split(".")[0] == "pypto":
            yield Hit(call.start, call.end, "default", {"written": value})
    for at in context.find("jit"):
        node = context.node_at(at, at + 3)
        top = node.parent if node is not None else None
        if top is not None and top.type == "attribute" and re.sub(r"\s", "", context.text(top)) == "pypto.frontend.jit":
            yield Hit(*span(top), "jit")


def _first(ours: list[py.Import]) -> list[py.Import]:
    """One import of each statement."""
    return list({one.node.start_byte: one for one in reversed(ours)}.values())[::-1]


def _renamed_loaders(context: Context) -> list[str]:
    found = (one.bound for one in py.imports(context) if one.name in _LOADERS and one.bound != one.name)
    return list(dict.fromkeys(found))


def not_one_kernel(context: Context) -> Iterator[Hit]:
    """No kernel in a test of PyPTO-Pro, or several."""
    name = _test(context)
    if name is None or not functions(context.file):
        return
    found = traced(context, "jit", "test")
    for one in found:
        if one.kind == "test":
            yield Hit(*span(one.decorator), "test", {"name": one.name})
    kernels = [one for one in found if one.kind == "jit"]
    for one in kernels[1:]:
        first = kernels[0]
        note = {"zh": f"第一个核函数 {first.name}", "en": f"the first kernel, {first.name}"}
        args = {"name": one.name, "first": first.name, "count": len(kernels)}
        yield Hit(
            *span(one.name_node), "several", args, None, _strict(context), (Related(*span(first.name_node), note),)
        )
    if not kernels and context.project is not None and not impl_imports(context.file):
        yield Hit(*_where(context), "default")


def missing_precision_helper(context: Context) -> Iterator[Hit]:
    """A delivered test without ``_assert_precision``."""
    if _test(context, delivered=True) is None or not test_functions(context.file):
        return
    if "_assert_precision" in functions(context.file):
        return
    imported = any(one.bound == "_assert_precision" for one in py.imports(context))
    yield Hit(*_where(context), "imported" if imported else "default")


def own_tolerance(context: Context) -> Iterator[Hit]:
    """A comparison with tolerances of its own."""
    if _test(context) is None:
        return
    for one in py.imports(context):
        if one.name in _CLOSE[:2]:
            yield Hit(*span(one.node), "default", {"call": one.name})
    seen: set[int] = set()
    for call in py.calls(context, *_CLOSE):
        if call.name in ("allclose", "isclose") and "." not in call.dotted:
            continue
        function = call.node.child_by_field_name("function") or call.node
        seen.add(call.start)
        yield Hit(*span(function), "default", {"call": call.dotted}, None, _strict(context))
    for word in _TOLERANCES:
        for _, parent in py.used_as(context, word, "keyword_argument", "name"):
            call_node = ancestor(parent, "call")
            if call_node is not None and call_node.start_byte not in seen:
                yield Hit(*span(parent), "keyword", {"written": context.text(parent)}, None, _strict(context))


def missing_cpu_golden(context: Context) -> Iterator[Hit]:
    """A delivered test that does not compare with ``<op>_golden_cpu``."""
    name = _test(context, delivered=True)
    if name is None or not test_functions(context.file):
        return
    module = f"{name.op}_golden_cpu"
    seen = [one.module for one in py.imports(context)] + [one.name for one in py.imports(context) if one.name]
    seen += [v for call in py.calls(context, *_LOADERS, *_renamed_loaders(context)) if (v := _literal(context, call))]
    if any(word.rpartition(".")[2] == module for word in seen) or any("golden_cpu" in word for word in seen):
        return
    # importlib.import_module(f"{OP}_golden_cpu")
    if b"_golden_cpu" in context.nocomment and any(True for w in _LOADERS for _ in context.find(w)):
        return
    helper = functions(context.file).get("_assert_precision")
    where = helper.child_by_field_name("name") if helper is not None else None
    yield Hit(*(span(where) if where is not None else _where(context)), "default", {"module": module})


def foreign_device(context: Context) -> Iterator[Hit]:
    """A test that does not run on the device it is told to."""
    if _test(context) is None:
        return
    helped = any(True for _ in context.find("_get_device"))
    found = False
    for start, end in context.spans(re.compile(rb"(?:npu|cuda):\d"), "nocomment"):
        node = context.node_at(start, end)
        while node is not None and node.type != "string":
            node = node.parent
        value = py.string_value(context.file, node) if node is not None else None
        if node is not None and value is not None and _DEVICE.fullmatch(value):
            found = True
            yield Hit(*span(node), "literal", {"value": value})
    for call in py.calls(context, "set_device"):
        if call.args and call.args[0].type == "integer":
            found = True
            yield Hit(*span(call.args[0]), "number", {"value": context.text(call.args[0])})
    for at in context.find(_VARIABLE, text=context.nocomment):
        node = context.node_at(at, at + len(_VARIABLE))
        while node is not None and node.type != "string":
            node = node.parent
        if node is None or py.string_value(context.file, node) != _VARIABLE:
            continue
        if _is_written(context, node):
            found = True
            yield Hit(*span(node), "overwritten")
        elif not helped:
            found = True
            yield Hit(*span(node), "own", {}, None, _strict(context))
    # A staged test is given its device by the stage.
    mine = context.project is not None and _test(context, delivered=True) is not None
    if mine and not found and not helped and any(True for _ in context.find("npu")):
        yield Hit(*_where(context), "default")


def _is_written(context: Context, node: Node) -> bool:
    """Whether an environment variable is given a value: ``os.environ["X"] = …``, ``setdefault``, ``setenv``, ``putenv``."""
    parent = node.parent
    if parent is not None and parent.type == "subscript":
        above = parent.parent
        return above is not None and above.type == "assignment" and above.child_by_field_name("left") == parent
    call = ancestor(node, "call")
    function = call.child_by_field_name("function") if call is not None else None
    return function is not None and context.text(function).rpartition(".")[2] in ("setdefault", "setenv", "putenv")


def too_few_cases(context: Context) -> Iterator[Hit]:
    """A delivered test with fewer than four cases."""
    name = _test(context, delivered=True)
    if name is None:
        return
    tests = test_functions(context.file)
    if not tests:
        if functions(context.file):
            yield Hit(*first_code(context.file), "none")
        return
    count = sum(_cases(context, node) for node in tests.values())
    if count < _CASES:
        last = list(tests.values())[-1]
        soft = generation(context.project) == 1 and count >= 2
        args = {"count": count, "wanted": _CASES}
        yield Hit(*span(last), "default", args, None, "warning" if soft else None)


def _cases(context: Context, name: Node) -> int:
    """How many cases a test stands for: one, or as many as its parameters have; many where that cannot be told."""
    function = name.parent
    outer = function.parent if function is not None else None
    if outer is None or outer.type != "decorated_definition":
        return 1
    count = 1
    for call in py.calls(Context(context.file, outer.start_byte, name.start_byte, outer), "parametrize"):
        values = call.args[1] if len(call.args) > 1 else call.keywords.get("argvalues")
        if values is None or values.type not in ("list", "tuple"):
            return _CASES
        count *= max(len([c for c in values.named_children if c.type != "comment"]), 1)
    return count


def pasted_result(context: Context) -> Iterator[Hit]:
    """What a run printed, written into a comment or docstring of a kernel's file."""
    if _test(context) is None and "pypto-pro" not in context.kinds:
        return
    for start, end in context.spans(_RESULT, "data"):
        if context.code[start:end].strip():
            continue
        node = context.node_at(start, end)
        while node is not None and node.type not in ("comment", "string"):
            node = node.parent
        if node is None or (
            node.type == "string" and (node.parent is None or node.parent.type != "expression_statement")
        ):
            continue
        yield Hit(start, end, "default", {"written": context.data[start:end].decode("utf-8", "replace").strip()})


def golden_fallback(context: Context) -> Iterator[Hit]:
    """The reference in place of the kernel, where that fails."""
    if _test(context) is None and "pypto-pro" not in context.kinds:
        return
    clauses = [(node.start_byte, node.end_byte) for node in context.nodes("except", "except_clause")]
    if not clauses:
        return
    for start, end in context.spans(_REFERENCE):
        if not any(a <= start < b for a, b in clauses[max(bisect(clauses, (start, end)) - 2, 0) :][:3]):
            continue
        call = py.call_at(context.file, start, end)
        if call is not None:
            function = call.node.child_by_field_name("function") or call.node
            yield Hit(*span(function), "default", {"call": call.dotted})


def golden_imports_test(context: Context) -> Iterator[Hit]:
    """A reference of a stage that imports the stage it is the reference of."""
    for one in py.imports(context):
        if any(_STAGE.fullmatch(part) for part in (*one.module.split("."), one.name or "")):
            yield Hit(*span(one.node), "default", {"written": context.text(one.node)})
    for call in py.calls(context, *_LOADERS, *_renamed_loaders(context)):
        value = _literal(context, call)
        if value is not None and any(_STAGE.fullmatch(part) for part in value.split(".")):
            yield Hit(call.start, call.end, "default", {"written": value})
