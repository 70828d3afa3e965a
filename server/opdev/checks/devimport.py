"""What a PyPTO-Pro delivery may import when it is loaded.

Delivered are ``test_<op>.py`` and ``<op>_golden.py``, nothing else; who judges the operator loads
the test as a module, which runs everything at module level.  An import of a file that stayed
behind fails there, before a single case has run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from opdev.checks.import_move import Moved, into_functions
from opdev.rules.context import Context
from opdev.rules.model import Hit
from opdev.syntax import py
from opdev.syntax.tree import ancestors, walk

if TYPE_CHECKING:
    from tree_sitter import Node

# Files of an operator's folder that are never delivered: the comparison tool, the CPU reference,
# the per-module references, and the staged tests.
_DEV_ONLY = re.compile(r"precision_compare|(?:\w+_)?golden_(?:cpu|stage\w*)|test_\w+_module\d+")
_STAGED = re.compile(r"test_\w+_module\d*")
_PYPTO = re.compile(rb"^\s*(?:import|from)\s+pypto\w*\b|\bpl\.jit\b", re.MULTILINE)
_MAIN = re.compile(r"""__name__==['"]__main__['"]|['"]__main__['"]==__name__""")
_TYPING = re.compile(r"(?:typing\.)?TYPE_CHECKING")
_CATCHES = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_LOADERS = ("import_module", "__import__", "importorskip")


@dataclass(frozen=True)
class _Found:
    """One import of a dev-only module: what to underline, and what a fix would move."""

    module: str
    start: int
    end: int
    node: Node
    moved: Moved | None


def top_level_dev_import(context: Context) -> Iterator[Hit]:
    """An import, in any form, that runs on loading and names a file that is not delivered."""
    stem = PurePosixPath(context.file.path).stem
    if not stem.startswith("test_") and (not stem.endswith("_golden") or not _is_pypto_folder(context)):
        return
    if stem.startswith("test_") and not (_PYPTO.search(context.nocomment) or _is_pypto_folder(context)):
        return
    staged = _STAGED.fullmatch(stem) is not None or "modules" in PurePosixPath(context.file.path).parts[-2:-1]
    for found in sorted((*_statements(context), *_dynamic(context)), key=lambda f: f.start):
        when = _when(context, found.node)
        if when == "never":
            continue
        key = "staged" if staged else "guarded" if when == "guarded" else "default"
        fix = into_functions(context, found.moved) if found.moved is not None and when == "always" else None
        args = {"module": found.module, "file": f"{stem}.py"}
        yield Hit(found.start, found.end, key, args, fix, None if key == "default" else "info")


def _is_pypto_folder(context: Context) -> bool:
    """Whether the file lies where PyPTO operators are developed: ``custom/<op>/``."""
    return "custom" in PurePosixPath(context.file.path).parts[-4:-2]


def dev_only(module: str, name: str | None = None) -> str | None:
    """The dev-only module an import loads, as one would write it; None when it loads none.

    ``name`` is what ``from module import name`` takes: a submodule, unless ``module`` is itself
    a file (``softmax_golden`` is delivered, and what it holds with it).
    """
    parts = module.lstrip(".").split(".")
    for index, part in enumerate(parts):
        if _DEV_ONLY.fullmatch(part):
            return ".".join(parts[: index + 1])
    if name is None or not _DEV_ONLY.fullmatch(name) or parts[-1].endswith("_golden"):
        return None
    return f"{module}{name}" if module.endswith(".") else f"{module}.{name}"


def _statements(context: Context) -> Iterator[_Found]:
    every = py.imports(context)
    statements: dict[int, list[py.Import]] = {}
    for one in every:
        statements.setdefault(one.node.start_byte, []).append(one)
    for group in statements.values():
        bad = [(one, module) for one in group if (module := dev_only(one.module, one.name)) is not None]
        if not bad:
            continue
        node, module = bad[0][0].node, bad[0][1]
        place = _underlined(context, node, bad[0][0])
        star = any(one.bound == "*" for one, _ in bad)
        moved = None if star else Moved(node, _texts(bad), _without(context, node, group))
        yield _Found(module, place.start_byte, place.end_byte, node, moved)


def _texts(bad: list[tuple[py.Import, str]]) -> dict[str, tuple[str, str]]:
    """By bound name: the statement's head (``from m import``) and what follows it for this name."""
    out = {}
    for one, _ in bad:
        if one.name is None:
            plain = one.module.split(".", 1)[0]
            out[one.bound] = ("import", one.module if one.bound == plain else f"{one.module} as {one.bound}")
        else:
            item = one.name if one.bound == one.name else f"{one.name} as {one.bound}"
            out[one.bound] = (f"from {one.module} import", item)
    return out


def _without(context: Context, node: Node, group: list[py.Import]) -> str:
    """The statement with only the names that stay; empty when none does."""
    names = zip(node.children_by_field_name("name"), group, strict=False)
    text = ", ".join(context.text(child) for child, one in names if dev_only(one.module, one.name) is None)
    if not text:
        return ""
    return f"import {text}" if node.type == "import_statement" else f"from {group[0].module} import {text}"


def _underlined(context: Context, node: Node, one: py.Import) -> Node:
    """The module's name in the statement; the imported name where that is the module."""
    module = node.child_by_field_name("module_name")
    if module is not None and dev_only(one.module) is not None:
        return module
    for child in node.children_by_field_name("name"):
        target = child.child_by_field_name("name") if child.type == "aliased_import" else child
        if target is not None and context.text(target) == (one.name or one.module):
            return target
    return node


def _dynamic(context: Context) -> Iterator[_Found]:
    """``importlib.import_module("m")`` and its like, with the name written out."""
    for call in _loader_calls(context):
        node = call.args[0] if call.args else call.keywords.get("name") or call.keywords.get("modname")
        text = _literal_tail(context, node) if node is not None else None
        module = dev_only(text) if text else None
        if node is not None and module is not None:
            yield _Found(module, node.start_byte, node.end_byte, call.node, _assignment(context, call.node))


def _loader_calls(context: Context) -> list[py.Call]:
    # from importlib import import_module as load
    renamed = {one.bound: None for one in py.imports(context) if one.name in _LOADERS and one.bound != one.name}
    return py.calls(context, *_LOADERS, *renamed)


def _literal_tail(context: Context, node: Node) -> str | None:
    """The name a string expression ends in: the literal, or what is literal of its end.

    Unknown parts read as ``X``: ``f"{OP}_golden_cpu"`` is ``X_golden_cpu``.
    """
    if node.type == "parenthesized_expression" and node.named_child_count == 1:
        return _literal_tail(context, node.named_children[0])
    if node.type == "binary_operator":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if right is None or left is None or node.children[1].type != "+":
            return None
        return (_literal_tail(context, left) or "X") + (_literal_tail(context, right) or "X")
    if node.type == "concatenated_string":
        return "".join(_literal_tail(context, child) or "X" for child in node.named_children)
    if node.type != "string":
        return None
    return "".join(
        "X" if child.type == "interpolation" else context.text(child)
        for child in node.named_children
        if child.type in ("interpolation", "string_content")
    )


def _assignment(context: Context, call: Node) -> Moved | None:
    """``pc = import_module("m")`` (or an attribute of it) as something a fix can move."""
    value = call
    while value.parent is not None and value.parent.type == "attribute":
        value = value.parent
    if value.parent is not None and value.parent.type == "argument_list" and value.parent.parent is not None:
        outer = value.parent.parent
        function = outer.child_by_field_name("function")
        if function is not None and context.text(function) == "getattr":
            value = outer
    assigned = value.parent
    if assigned is None or assigned.type != "assignment" or assigned.child_by_field_name("right") != value:
        return None
    left, statement = assigned.child_by_field_name("left"), assigned.parent
    if left is None or left.type != "identifier" or assigned.child_by_field_name("type") is not None:
        return None
    if statement is None or statement.type != "expression_statement" or statement.named_child_count != 1:
        return None
    if statement.start_point[0] != statement.end_point[0]:
        return None
    return Moved(statement, {context.text(left): ("", context.text(statement))}, "")


def _when(context: Context, node: Node) -> str:
    """When an import runs as the module is loaded: always, guarded, conditional, or never.

    *guarded*: its failure is caught, or its presence asked for first.
    """
    answer = "always"
    below = node
    for above in ancestors(node):
        if above.type in ("function_definition", "lambda") and above.child_by_field_name("body") == below:
            return "never"
        if above.type in ("if_statement", "elif_clause", "conditional_expression"):
            condition = above.child_by_field_name("condition")
            if condition is not None and above.child_by_field_name("consequence") == below:
                text = re.sub(r"\s+", "", context.text(condition)).strip("()")
                if _MAIN.search(text) and not re.search(r"\b(?:or|not)\b", context.text(condition)):
                    return "never"
                if _TYPING.fullmatch(text):
                    return "never"
                if "find_spec(" in text and not text.startswith("not"):
                    answer = "guarded"
        if above.type == "try_statement" and above.child_by_field_name("body") == below and _caught(context, above):
            answer = "guarded"
        if above.type == "with_statement" and above.child_by_field_name("body") == below:
            head = context.data[above.start_byte : below.start_byte]
            if re.search(rb"suppress\s*\([^)]*\b(?:ImportError|ModuleNotFoundError|Exception)\b", head):
                answer = "guarded"
        if answer == "always" and above.type not in ("module", "expression_statement", "assignment", "call"):
            answer = "conditional" if above.type.endswith("_statement") else answer
        below = above
    return answer


def _caught(context: Context, statement: Node) -> bool:
    """Whether a try statement outlives an ImportError: a handler takes it and does not raise again."""
    for handler in statement.children:
        if handler.type not in ("except_clause", "except_group_clause"):
            continue
        block = handler.named_children[-1]
        head = context.data[handler.start_byte : block.start_byte].decode("utf-8", "replace")
        words = set(re.findall(r"\w+", head))
        if (words & _CATCHES or words == {"except"}) and not _raises(context, block):
            return True
    return False


def _raises(context: Context, block: Node) -> bool:
    for node in walk(block):
        if node.type == "raise_statement" and py.function_of(node) == py.function_of(block):
            return True
        if node.type == "call":
            function = node.child_by_field_name("function")
            if function is not None and context.text(function) in ("sys.exit", "exit", "quit", "os._exit"):
                return True
    return False
