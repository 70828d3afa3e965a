"""Whether implementations take and write what ``module_interfaces.yaml`` says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.pypto_loops import primary
from opdev.facts.pypto_interfaces import interfaces_of, modules_of, outputs, primary_inputs
from opdev.facts.pypto_kernels import Kernel, functions, inner, is_stub, is_wrapper, parameters, reached, scope_of
from opdev.facts.pypto_names import Named, first_code, named
from opdev.rules.context import Context
from opdev.rules.model import Hit
from opdev.syntax import py

if TYPE_CHECKING:
    from tree_sitter import Node

_ONTO = ("index_add_", "index_add__ub", "index_put_", "scatter_", "axpy_")
_METHODS = ("move", "assemble", *_ONTO)
_SUBSCRIPT = re.compile(rb"(?<![\w.])([A-Za-z_]\w*)[ \t]*\[[^\n]*\][ \t]*(?:[-+*/%@]|//|\*\*)?=(?!=)")
_METHOD = re.compile(rb"(?<![\w.])([A-Za-z_]\w*)\.(?:%s)[ \t]*\(" % b"|".join(m.encode() for m in _METHODS))
_CREATES = frozenset({"zeros", "ones", "empty", "full", "tensor", "zeros_like", "empty_like", "ones_like", "Tensor"})
_LAYOUT = frozenset({"view", "reshape", "contiguous", "clone", "detach"})


def _name(context: Context) -> Named | None:
    name = named(context.file.path)
    return name if name is not None and name.part == "impl" and not is_stub(context.file) else None


def wrapper_signature(context: Context) -> Iterator[Hit]:
    """A wrapper whose parameters are not the declared inputs."""
    name, root = _name(context), interfaces_of(context.project)
    if name is None or root is None or not primary_inputs(root):
        return
    modules = modules_of(name.suffix) if name.suffix else None
    if name.suffix and modules is None:
        yield Hit(*first_code(context.file), "suffix", {"suffix": name.suffix, "wanted": _guess(name.suffix)})
        return
    expected = primary_inputs(root, modules)
    wrapper = _wrapper(context, name)
    if wrapper is None or not expected:
        return
    actual = [p for p in parameters(context.file, wrapper) if p.role != "star" and p.name not in ("self", "cls")]
    given = [p.name for p in actual]
    if given == expected:
        return
    where = wrapper.child_by_field_name("name") or wrapper
    args = {"wrapper": context.text(where), "expected": ", ".join(expected), "given": ", ".join(given)}
    extra = [p for p in actual if p.name not in expected]
    for parameter in extra:
        yield Hit(parameter.node.start_byte, parameter.node.end_byte, "extra", {**args, "name": parameter.name})
    lacking = [n for n in expected if n not in given]
    if lacking:
        yield Hit(
            where.start_byte,
            where.end_byte,
            "lacking",
            {**args, "names": "、".join(lacking), "names_en": ", ".join(lacking)},
        )
    elif not extra:
        yield Hit(where.start_byte, where.end_byte, "default", args)


def _guess(suffix: str) -> str:
    return "".join(str(n) for n in range(1, (int(suffix[-1]) or 1) + 1))


def _wrapper(context: Context, name: Named) -> Node | None:
    known = functions(context.file)
    if name.suffix:
        return known.get(f"{name.op}_module{name.suffix}_wrapper")
    for wanted in ("host_wrapper", f"{name.op}_wrapper"):
        if wanted in known:
            return known[wanted]
    return next((node for n, node in known.items() if n.startswith(("launch_", "run_")) and is_wrapper(n)), None)


def _outputs(context: Context) -> list[str]:
    name, root = _name(context), interfaces_of(context.project)
    if name is None or root is None:
        return []
    modules = modules_of(name.suffix) if name.suffix else None
    return outputs(root, modules) if not name.suffix or modules is not None else []


def missing_write_back(context: Context) -> Iterator[Hit]:
    """A kernel that writes fewer tensors than the operator has outputs."""
    expected = _outputs(context)
    traced = primary(context) if expected else []
    if not traced:
        return
    written: set[str] = set()
    for node in reached(context.file, [k.node for k in traced]).values():
        written |= _written(context, node)
    brought = {
        o.bound for o in py.imports(context) if o.module.split(".")[0] not in ("pypto", "torch", "math", "typing")
    }
    called = {
        m.decode()
        for k in traced
        for m in re.findall(
            rb"(?<![\w.])([A-Za-z_]\w*)(?:\.\w+)*[ \t]*\(", context.code[k.body.start_byte : k.body.end_byte]
        )
    }
    if len(written) >= len(expected) or not brought.isdisjoint(called):
        return
    where = traced[0].name_node
    args = {"name": traced[0].name, "count": len(written), "expected": len(expected), "outputs": ", ".join(expected)}
    yield Hit(where.start_byte, where.end_byte, "default", args)


def _written(context: Context, function: Node) -> set[str]:
    """The tensors a function writes, by name."""
    code, start, end = context.code, function.start_byte, function.end_byte
    found = {m[1].decode() for m in _SUBSCRIPT.finditer(code, start, end)}
    found |= {m[1].decode() for m in _METHOD.finditer(code, start, end) if m[1] != b"pypto"}
    view = Context(context.file, start, end, function)
    for call in py.calls(view, *(f"pypto.{name}" for name in _METHODS)):
        target = _target(call)
        if target is not None:
            found.add(context.text(target))
    return found


def _target(call: py.Call) -> Node | None:
    """The tensor a functional write goes to."""
    for key in ("target", "dst", "out", "input", "y"):
        if key in call.keywords:
            return call.keywords[key]
    if call.name == "assemble":
        if call.args and call.args[0].type in ("list", "tuple"):
            return call.args[1] if len(call.args) > 1 else None
        return call.args[2] if len(call.args) > 2 else None
    if call.name == "move":
        return call.args[1] if len(call.args) > 1 else None
    return call.args[0] if call.args else None


def trivial_write_back(context: Context) -> Iterator[Hit]:
    """Outputs that are given nothing but inputs or constants."""
    expected = _outputs(context)
    for kernel in primary(context) if expected else []:
        tensors = list(kernel.tensors)
        if set(expected) <= set(tensors):
            targets = expected
        elif len(tensors) > len(expected):
            targets = tensors[-len(expected) :]
        else:
            continue
        for target in targets:
            writes = list(_writes(context, kernel, target))
            if not writes or _passed_on(context, kernel, target):
                continue
            if all(source is not None and _is_trivial(context, kernel, source, set(targets)) for _, source in writes):
                for at, _ in writes:
                    yield Hit(at.start_byte, at.end_byte, "default", {"target": target, "name": kernel.name})


def _passed_on(context: Context, kernel: Kernel, name: str) -> bool:
    """Whether a tensor goes into a function that may write it."""
    for at in kernel.view.find(name):
        node = context.node_at(at, at + len(name))
        parent = node.parent if node is not None else None
        if parent is not None and parent.type == "keyword_argument" and parent.child_by_field_name("value") == node:
            parent = parent.parent
        if parent is None or parent.type != "argument_list" or parent.parent is None:
            continue
        callee = parent.parent.child_by_field_name("function")
        root = context.text(callee).split(".")[0] if callee is not None else ""
        if root != kernel.alias and root not in kernel.tensors:
            return True
    return False


def _writes(context: Context, kernel: Kernel, target: str) -> Iterator[tuple[Node, Node | None]]:
    """(what to mark, the source) of every write to a tensor of the kernel; the source None where there is none."""
    for at in kernel.view.find(target):
        node = context.node_at(at, at + len(target))
        parent = node.parent if node is not None else None
        if node is None or parent is None:
            continue
        if parent.type == "subscript" and parent.child_by_field_name("value") == node and parent.parent is not None:
            statement = parent.parent
            if statement.type == "augmented_assignment" and statement.child_by_field_name("left") == parent:
                yield statement, None
            elif statement.type == "assignment" and statement.child_by_field_name("left") == parent:
                yield statement, statement.child_by_field_name("right")
        elif parent.type == "attribute" and parent.child_by_field_name("object") == node:
            attribute = parent.child_by_field_name("attribute")
            call = parent.parent
            if (
                attribute is not None
                and call is not None
                and call.type == "call"
                and context.text(attribute) in _METHODS
            ):
                found = py.Call("", call, context.file)
                plain = context.text(attribute) in ("move", "assemble")
                yield call, found.args[0] if plain and found.args else None
    for write in py.calls(kernel.view, *(f"{kernel.alias}.{name}" for name in _METHODS)):
        where = _target(write)
        if where is not None and context.text(where) == target:
            first = write.args[0] if write.args and write.name in ("move", "assemble") else None
            yield write.node, first if first is not None and first.type not in ("list", "tuple") else None


def _is_trivial(context: Context, kernel: Kernel, node: Node, outs: set[str], depth: int = 4) -> bool:
    """Whether an expression is an input or a constant tensor, possibly laid out otherwise."""
    if node.type == "parenthesized_expression":
        inside = inner(node)
        return inside is not None and _is_trivial(context, kernel, inside, outs, depth)
    if node.type == "identifier":
        name = context.text(node)
        if name in kernel.tensors:
            return name not in outs
        value = _only_value(context, kernel, name) if depth else None
        return value is not None and _is_trivial(context, kernel, value, outs, depth - 1)
    if node.type == "subscript":
        owner = node.child_by_field_name("value")
        return owner is not None and _is_trivial(context, kernel, owner, outs, depth)
    if node.type == "call":
        callee = node.child_by_field_name("function")
        written = context.text(callee) if callee is not None else ""
        head, _, last = written.rpartition(".")
        call = py.Call(written, node, context.file)
        if head == kernel.alias:
            if last in _CREATES:
                return True
            return last in _LAYOUT and bool(call.args) and _is_trivial(context, kernel, call.args[0], outs, depth)
        owner = callee.child_by_field_name("object") if callee is not None and callee.type == "attribute" else None
        return last in _LAYOUT and owner is not None and _is_trivial(context, kernel, owner, outs, depth)
    return False


def _only_value(context: Context, kernel: Kernel, name: str) -> Node | None:
    """What a local is, where it is assigned once and never changed."""
    word = re.escape(name.encode())
    body = context.code[kernel.body.start_byte : kernel.body.end_byte]
    if re.search(
        rb"(?<![\w.])%s\s*(?:\[[^\n]*\]\s*[-+*/]?=(?!=)|[-+*/@]=|\.(?:%s)\b)"
        % (word, b"|".join(m.encode() for m in _METHODS)),
        body,
    ):
        return None
    if re.search(
        rb"pypto\.(?:assemble|move|%s)\([^\n]*(?<!\w)%s(?!\w)[^\n]*\)" % (b"|".join(m.encode() for m in _ONTO), word),
        body,
    ) and not re.search(rb"\(\s*%s\s*," % word, body):
        return None
    found = [m.start() for m in re.finditer(rb"(?<![\w.])%s\s*=(?!=)" % word, body)]
    if len(found) != 1:
        return None
    at = kernel.body.start_byte + found[0]
    node = context.node_at(at, at + len(name))
    parent = node.parent if node is not None else None
    if parent is None or parent.type != "assignment" or scope_of(parent) != kernel.node:
        return None
    return parent.child_by_field_name("right")
