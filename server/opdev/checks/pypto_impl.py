"""How ``<op>_impl.py`` of a PyPTO operator is put together: imports, kernel, wrapper, buffers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from opdev.facts.pypto_api import FRONTEND, NAMES, near
from opdev.facts.pypto_kernels import (
    Kernel,
    aliases,
    defined,
    functions,
    is_for_trying,
    is_stub,
    is_wrapper,
    kernel_names,
    kernels,
)
from opdev.facts.pypto_names import first_code
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import py
from opdev.syntax.tree import ancestors

if TYPE_CHECKING:
    from tree_sitter import Node

_LOADED = frozenset({"pypto", "pypto.frontend", "pypto.experimental"})
"""Modules that ``import pypto`` alone makes available."""
_BINDS = frozenset(
    {"assignment", "augmented_assignment", "for_statement", "function_definition", "class_definition", "named_expression",
     "parameters", "default_parameter", "typed_parameter", "typed_default_parameter", "lambda_parameters",
     "as_pattern_target", "for_in_clause", "global_statement", "nonlocal_statement", "pattern_list", "tuple_pattern"}
)  # fmt: skip
_GOLDEN = re.compile(r"\w+_golden(?:_\w+)?")
_MAIN = re.compile(r"""__name__\s*==\s*['"]__main__['"]""")
_CREATES = ("zeros", "empty", "ones", "full")
_OUTPUT = re.compile(r"out|output|outs|outputs|out_\w+|\w+_out|output_\w+|\w+_output")
_ALIAS = re.compile(rb"\bpypto[ \t]+as[ \t]+(?!pypto\b)")
_OURS = re.compile(rb"(?<![\w.])pypto\.(frontend\.)?([A-Za-z]\w*)")
_KNOWN = frozenset(name.encode() for name in NAMES)
_KNOWN_FRONT = frozenset(name.encode() for name in FRONTEND)


def not_one_kernel(context: Context) -> Iterator[Hit]:
    """No kernel in an implementation, or several."""
    if is_stub(context.file):
        return
    found = kernels(context)
    for kernel in found:
        if kernel.spelled != "pypto.frontend.jit" and kernel.alias == "pypto":
            callee = _callee(kernel)
            fix = Fix((Edit(callee.start_byte, callee.end_byte, "pypto.frontend.jit"),), "spelled")
            yield Hit(callee.start_byte, callee.end_byte, "spelled", {"written": kernel.spelled}, fix)
    if len(found) > 1:
        names = [kernel.name for kernel in found]
        first = found[0].name_node
        for kernel in found[1:]:
            where = kernel.name_node
            note = {"zh": f"第一个核函数 {names[0]}", "en": f"the first kernel, {names[0]}"}
            related = (Related(first.start_byte, first.end_byte, note),)
            args = {"name": kernel.name, "first": names[0], "count": len(found)}
            yield Hit(where.start_byte, where.end_byte, "several", args, None, None, related)
    if not found and defined(context) and not _has_bare_jit(context):
        yield Hit(*first_code(context.file))


def _callee(kernel: Kernel) -> Node:
    node = kernel.decorator.named_children[0]
    return node.child_by_field_name("function") or node if node.type == "call" else node


def _has_bare_jit(context: Context) -> bool:
    """Whether kernels are decorated by an imported ``jit``, which is told as a wrong import."""
    return any(one.module.startswith("pypto.") and one.name == "jit" for one in py.imports(context))


@dataclass(frozen=True)
class _Wrong:
    """One import of PyPTO in another form: what it binds, and what that is called in full."""

    one: py.Import
    full: str


def import_form(context: Context) -> Iterator[Hit]:
    """PyPTO imported in any form but ``import pypto``."""
    if is_stub(context.file):
        return
    every = py.imports(context)
    ours = [one for one in every if one.module.split(".")[0] == "pypto"]
    plain = any(one.module == "pypto" and one.name is None and one.bound == "pypto" for one in ours)
    wrong = [
        _Wrong(one, one.module if one.name is None else f"{one.module}.{one.name}")
        for one in ours
        if not (one.module == "pypto" and one.name is None and one.bound == "pypto")
    ]
    fix = _normal(context, wrong, every, plain=plain) if wrong else None
    seen: set[int] = set()
    for bad in wrong:
        node = bad.one.node
        if node.start_byte in seen:
            continue
        seen.add(node.start_byte)
        written = " ".join(context.text(node).split())
        yield Hit(node.start_byte, node.end_byte, "default", {"written": written}, fix)
    if not ours and defined(context):
        yield Hit(*first_code(context.file), "missing")


def _normal(context: Context, wrong: list[_Wrong], every: list[py.Import], *, plain: bool) -> Fix | None:
    """One ``import pypto`` for all of them, names written out in full; None where that may mean something else."""
    edits: list[Edit] = []
    statements = {bad.one.node.start_byte: bad.one.node for bad in wrong}
    for start, node in statements.items():
        group = [one for one in every if one.node.start_byte == start]
        if any(one.module.split(".")[0] != "pypto" or one.name == "*" for one in group):
            return None
        if node.parent is None or node.parent.type != "module":
            return None
    for bad in wrong:
        if bad.one.module not in _LOADED:
            return None
        if bad.one.bound == "pypto" and bad.one.name is None:
            continue
        if sum(1 for one in every if one.bound == bad.one.bound) > 1:
            return None
        for at in context.find(bad.one.bound):
            use = context.node_at(at, at + len(bad.one.bound))
            if use is None or use.type != "identifier" or _is_import(use):
                continue
            parent = use.parent
            if parent is not None and parent.type == "attribute" and parent.child_by_field_name("attribute") == use:
                continue
            if parent is not None and parent.type == "keyword_argument" and parent.child_by_field_name("name") == use:
                continue
            if parent is None or _binds(use, parent):
                return None
            edits.append(Edit(use.start_byte, use.end_byte, bad.full))
    written = plain
    for node in statements.values():
        if not written:
            edits.append(Edit(node.start_byte, node.end_byte, "import pypto"))
            written = True
            continue
        stop = context.data.find(b"\n", node.end_byte)
        stop = len(context.data) if stop < 0 else stop + 1
        alone = not context.data[node.end_byte : stop].strip()
        edits.append(Edit(node.start_byte, stop if alone else node.end_byte, ""))
    return Fix(tuple(sorted(edits, key=lambda e: e.start)))


def _is_import(node: Node) -> bool:
    return any(a.type in ("import_statement", "import_from_statement") for a in ancestors(node))


def _binds(node: Node, parent: Node) -> bool:
    if parent.type not in _BINDS:
        return False
    if parent.type in ("assignment", "augmented_assignment", "for_statement", "for_in_clause"):
        return parent.child_by_field_name("left") == node
    if parent.type in (
        "function_definition",
        "class_definition",
        "named_expression",
        "default_parameter",
        "typed_default_parameter",
    ):
        return parent.child_by_field_name("name") == node
    return True


def missing_wrapper(context: Context) -> Iterator[Hit]:
    """No ``*_wrapper`` in an implementation."""
    if is_stub(context.file):
        return
    known = defined(context)
    if not known or any(name.endswith("_wrapper") for name in known):
        return
    kernel = next(iter(kernels(context)), None)
    if kernel is not None:
        where = kernel.name_node
        yield Hit(where.start_byte, where.end_byte, "default", {"name": kernel.name})
    else:
        yield Hit(*first_code(context.file), "none")


def golden_import(context: Context) -> Iterator[Hit]:
    """The reference imported by what it is the reference of."""
    for one in py.imports(context):
        name = one.module.rpartition(".")[2]
        if not _GOLDEN.fullmatch(name):
            name = one.name or ""
            if not _GOLDEN.fullmatch(name):
                continue
        if not _only_tries(context, one.node):
            yield Hit(one.node.start_byte, one.node.end_byte, "default", {"name": name})


def _only_tries(context: Context, node: Node) -> bool:
    """Whether a statement runs only when the file is tried out by hand."""
    for above in ancestors(node):
        if above.type == "function_definition":
            name = above.child_by_field_name("name")
            if name is not None and is_for_trying(context.text(name)):
                return True
        if above.type == "if_statement":
            test = above.child_by_field_name("condition")
            if test is not None and _MAIN.search(context.text(test)):
                return True
    return False


def wrapper_buffer(context: Context) -> Iterator[Hit]:
    """Output buffers a wrapper takes from PyPTO, or from nowhere."""
    if not any(is_wrapper(name) for name in defined(context)):
        return
    known = aliases(context.file)
    launched = kernel_names(context.file)
    for name, function in functions(context.file).items():
        if not is_wrapper(name):
            continue
        view = Context(context.file, function.start_byte, function.end_byte, function)
        for call in py.calls(view, *(f"{alias}.{maker}" for alias in sorted(known) for maker in _CREATES)):
            if call.dotted.split(".")[0] in known and call.dotted.count(".") == 1:
                yield Hit(call.start, call.end, "default", {"name": name, "written": call.dotted})
        for call in py.calls(view, *sorted(launched)):
            for argument in call.args:
                if argument.type == "identifier" and not _is_known(context, function, argument):
                    output = context.text(argument)
                    if _OUTPUT.fullmatch(output):
                        args = {"name": name, "output": output, "kernel": call.name}
                        yield Hit(argument.start_byte, argument.end_byte, "unallocated", args)


def _is_known(context: Context, function: Node, argument: Node) -> bool:
    """Whether a name has a value anywhere a function could have it from: its text, or the top of the file."""
    name = context.text(argument)
    word = re.escape(name.encode())
    before = context.code[function.start_byte : argument.start_byte]
    if re.search(rb"(?<![\w.])%s\s*(?:[-+*/]?=(?!=)|,|:|\)|\s+in\b|\])" % word, before):
        return True
    return (
        re.search(rb"^(?:global[^\n]*\b)?%s\b|\bimport\b[^\n]*\b%s\b" % (word, word), context.code, re.MULTILINE)
        is not None
    )


def unknown_name(context: Context) -> Iterator[Hit]:
    """``pypto.<name>`` that no version of PyPTO has."""
    file = context.file
    host = file.region.host if file.region is not None else file
    if b"pypto.language" in host.data:
        return
    if not context.holds(_has_unknown) and not context.spans(_ALIAS):
        return
    known = aliases(file)
    given = {one.name for one in py.imports(context) if one.module == "pypto"}
    names = _names_of(known)
    # SOME_OP in a document stands for whatever the reader has.
    in_document = "docs-fence" in context.kinds
    for start, end in context.spans(names):
        match = names.match(context.code, start, end)
        if match is None:
            continue
        name = match[3].decode()
        table = FRONTEND if match[2] else NAMES
        if name in table or name in given or (in_document and name.isupper() and not name.startswith("DT_")):
            continue
        at = start + match.start(3) - match.start()
        if _is_import_text(context, start) or _is_assigned(context, end):
            continue
        guesses = near(name) if not match[2] else []
        alias = match[1].decode()
        args = {"name": f"{alias}.{name}", "near": "、".join(f"{alias}.{g}" for g in guesses)}
        args["near_en"] = args["near"].replace("、", ", ")
        fix = Fix((Edit(at, at + len(name), guesses[0]),)) if len(guesses) == 1 else None
        args["guess"] = f"{alias}.{guesses[0]}" if guesses else ""
        yield Hit(at, at + len(name), "near" if guesses else "default", args, fix)


@lru_cache(maxsize=64)
def _names_of(aliases: frozenset[str]) -> re.Pattern[bytes]:
    """What is asked of PyPTO, whatever it is called in a file."""
    called = b"|".join(re.escape(alias.encode()) for alias in sorted(aliases))
    return re.compile(rb"(?<![\w.])(%s)\.(frontend\.)?([A-Za-z]\w*)" % called)


def _has_unknown(text: bytes) -> bool:
    """Whether a text names anything PyPTO does not have: most definitions do not, and need no look at each name."""
    return any(name not in (_KNOWN_FRONT if front else _KNOWN) for front, name in _OURS.findall(text))


def _is_import_text(context: Context, at: int) -> bool:
    line = context.code[context.code.rfind(b"\n", 0, at) + 1 : at]
    return re.match(rb"\s*(?:import|from)\b", line) is not None


def _is_assigned(context: Context, end: int) -> bool:
    """Whether the program itself gives PyPTO the attribute."""
    return re.match(rb"\s*=(?!=)", context.code[end : end + 8]) is not None


__all__ = [
    "golden_import", "import_form", "missing_wrapper", "not_one_kernel", "unknown_name", "wrapper_buffer",
]  # fmt: skip
