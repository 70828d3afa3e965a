"""Goldens of PyPTO operators: independent of PyPTO, loadable, and written so that they can be carried over."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.facts.pypto_kernels import functions
from opdev.facts.pypto_names import first_code, named
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import py
from opdev.syntax.file import File
from opdev.syntax.tree import text, walk


def _literal(context: Context, call: py.Call) -> str | None:
    return py.string_value(context.file, call.args[0]) if call.args else None


def golden_imports_pypto(context: Context) -> Iterator[Hit]:
    """PyPTO in what it is checked against."""
    for one in py.imports(context):
        if one.module.split(".")[0].startswith("pypto"):
            yield Hit(one.node.start_byte, one.node.end_byte, "default", {"module": one.module})
    for call in py.calls(context, "import_module", "__import__"):
        value = _literal(context, call)
        if value is not None and value.split(".")[0].startswith("pypto"):
            yield Hit(call.start, call.end, "default", {"module": value})


def transpose_shorthand(context: Context) -> Iterator[Hit]:
    """``x.T`` and ``x.t()`` in a golden."""
    if context.project is not None and any(
        True for f in context.project.files("pypto", "pypto-golden") if _is_of_pro(f)
    ):
        return
    if not any(one.module.split(".")[0] == "torch" for one in py.imports(context)):
        return
    arrays = {one.bound for one in py.imports(context) if one.module.split(".")[0] != "torch"}
    for word in ("T", "t"):
        for node, parent in py.used_as(context, word, "attribute", "attribute"):
            owner = parent.child_by_field_name("object")
            if owner is None or context.text(owner).split(".")[0] in arrays or context.text(owner) == "torch":
                continue
            end = node.end_byte
            if word == "t":
                call = parent.parent
                arguments = call.child_by_field_name("arguments") if call is not None and call.type == "call" else None
                if (
                    call is None
                    or arguments is None
                    or call.child_by_field_name("function") != parent
                    or arguments.named_child_count
                ):
                    continue
                end = call.end_byte
            written = context.data[parent.start_byte : end].decode("utf-8", "replace")
            fix = Fix((Edit(node.start_byte, end, "transpose(0, 1)"),))
            yield Hit(node.start_byte, end, "default", {"written": " ".join(written.split())}, fix)


def _is_of_pro(file: File) -> bool:
    return file.path.endswith("_golden_cpu.py") or b"pypto_pro" in file.data


def unusable_golden(context: Context) -> Iterator[Hit]:
    """A golden that cannot be loaded, or does not hold what everybody asks it for."""
    broken = _syntax_error(context.file)
    if broken is not None:
        yield Hit(*broken, "syntax")
        return
    name = named(context.file.path)
    if name is None or name.part != "golden" or name.suffix or not _is_of_operator(context, name.op):
        return
    wanted = f"{name.op}_golden"
    known = functions(context.file)
    if not known or wanted in known or any(one.bound in (wanted, "*") for one in py.imports(context)):
        return
    if re.search(rb"^(?:async\s+def\s+)?%s\b" % wanted.encode(), context.code, re.MULTILINE):
        return
    near = [n for n in known if "golden" in n and not n.startswith("_")]
    if not near:
        yield Hit(*first_code(context.file), "default", {"name": wanted})
        return
    where = known[near[0]].child_by_field_name("name")
    if where is not None:
        yield Hit(where.start_byte, where.end_byte, "renamed", {"name": wanted, "other": text(context.data, where)})


def _is_of_operator(context: Context, op: str) -> bool:
    """Whether a golden is the operator's own, and not a reference for some part of it."""
    if context.project is None:
        return False
    if re.sub(r"[^a-z0-9]", "", context.project.name.lower()) == op.replace("_", "").lower():
        return True
    others = (named(f.path) for f in context.project.files("pypto-impl", "pypto-test"))
    return any(other is not None and other.op == op for other in others)


def _syntax_error(file: File) -> tuple[int, int] | None:
    """Where a file does not parse, by Python and by the grammar both: either alone may be behind the other's version."""
    if not file.root.has_error:
        return None
    import ast

    try:
        ast.parse(file.data)
    except SyntaxError as error:
        line = max((error.lineno or 1) - 1, 0)
        starts = file.source.line_starts
        line = min(line, len(starts) - 1)
        start, end = starts[line], file.source.line_range(line)[1]
        shown = file.data[start:end]
        return start + len(shown) - len(shown.lstrip()), end
    except ValueError:
        return next(((n.start_byte, n.end_byte) for n in walk(file.root) if n.type == "ERROR"), None)
    return None
