"""The wrapper of a PyPTO-Pro operator: that there is one, that it launches the kernel once, and does nothing else.

What the host may do differs by generation: the first allows what does not compute (views, casts,
allocation), the second nothing but checking arguments, reading shapes, ``torch.empty`` and the one launch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.pypto_host import ALLOWED, METHOD, PARTS, tensors_of
from opdev.facts.pypto_kernels import Parameter, functions, parameters
from opdev.facts.pypto_names import impl_imports
from opdev.facts.pypto_pro import generation, pro_kernels, traced
from opdev.facts.pypto_pro_host import host_side, in_loop, is_staged, launches, pro_test, public_wrappers
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import py
from opdev.syntax.file import File
from opdev.syntax.tree import ancestors, span, text

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTION = re.compile(rb"(?<![\w.])(?:torch|torch_npu|F|functional)(?:\.\w+)+[ \t]*(?=\()")
_OPERATOR = re.compile(rb"\*\*|//|[-+*/%@&|^](?!=)|<<|>>")
# What reads a tensor's description, not its elements.
_METADATA = frozenset({"dim", "size", "stride", "numel", "storage_offset", "ndimension", "nelement", "element_size",
                       "is_contiguous", "is_floating_point", "is_complex", "get_device", "data_ptr", "type"})  # fmt: skip
# What the second generation leaves of torch: the outputs' memory, and the stream to launch on.
_SECOND = frozenset({"empty", "current_stream", "current_device", "is_tensor", "Size", "finfo", "iinfo"})
_CALL = re.compile(rb"(?<![\w.])(\w+)((?:\.\w+)+)[ \t]*\(")


def _name(node: Node) -> Node:
    return node.child_by_field_name("name") or node


def missing_wrapper(context: Context) -> Iterator[Hit]:
    """A test of PyPTO-Pro without the wrapper its name promises."""
    name = pro_test(context.file, context.project)
    if name is None or context.project is None or impl_imports(context.file):
        return
    wanted = f"{name.op}_wrapper_module{name.suffix}" if name.suffix else f"{name.op}_wrapper"
    known = functions(context.file)
    kernel = next(iter(pro_kernels(context)), None)
    if wanted in known or kernel is None or any(one.bound == wanted for one in py.imports(context)):
        return
    near = next((n for n in known if "_wrapper" in n or n == "wrapper"), None)
    if near is not None:
        yield Hit(*span(_name(known[near])), "renamed", {"name": wanted, "other": near})
    else:
        yield Hit(*span(kernel.name_node), "default", {"name": wanted, "kernel": kernel.name})


def not_one_launch(context: Context) -> Iterator[Hit]:
    """A wrapper that launches no kernel, several, or one in a loop."""
    file = context.file
    kernels = pro_kernels(context)
    for name, wrapper in public_wrappers(file).items():
        reach = host_side(file, [wrapper])
        found = [(node, one) for node in reach.values() for one in launches(file, node)]
        for node, one in found:
            if in_loop(node, one.node):
                yield Hit(*span(one.place), "loop", {"kernel": one.kernel, "name": name})
        for node in reach.values():
            yield from _looped_helpers(file, node, reach, name)
        if not found and kernels and name.endswith("_wrapper"):
            yield Hit(*span(_name(wrapper)), "default", {"name": name, "kernel": kernels[0].name})
        own = sorted((one for node, one in found), key=lambda one: one.node.start_byte)
        for index, one in enumerate(own[1:], 1):
            before = next((other for other in own[:index] if not _apart(other.node, one.node)), None)
            if before is not None:
                note = {"zh": "第一次启动", "en": "the first launch"}
                args = {"kernel": one.kernel, "name": name, "count": len(own)}
                yield Hit(*span(one.place), "several", args, None, None, (Related(*span(before.place), note),))


def _looped_helpers(file: File, node: Node, reach: dict[int, Node], name: str) -> Iterator[Hit]:
    """Calls in a loop of helpers that launch."""
    known = functions(file)
    for helper, where in known.items():
        if where.start_byte not in reach or where == node or not launches(file, where):
            continue
        for match in re.finditer(
            rb"(?<![\w.])%s[ \t]*\(" % re.escape(helper.encode()), file.code[node.start_byte : node.end_byte]
        ):
            at = node.start_byte + match.start()
            callee = file.root.named_descendant_for_byte_range(at, at + len(helper) - 1)
            if callee is not None and in_loop(node, callee):
                yield Hit(*span(callee), "loop", {"kernel": launches(file, where)[0].kernel, "name": name})


def _apart(first: Node, second: Node) -> bool:
    """Whether of two places in a function at most one is run: branches of one ``if``, or a return in between."""
    above = {(a.start_byte, a.end_byte, a.type): a for a in ancestors(first)}
    for node in ancestors(second):
        if node.type == "if_statement" and (node.start_byte, node.end_byte, node.type) in above:
            one, other = _branch(node, first), _branch(node, second)
            if one != other:
                return True
    block = next((a for a in ancestors(first) if a.type == "block"), None)
    if block is None or block.parent is None or block.parent.type not in ("if_statement", "elif_clause", "else_clause"):
        return False
    last = block.named_children[-1] if block.named_child_count else None
    return (
        last is not None and last.type in ("return_statement", "raise_statement") and second.start_byte > block.end_byte
    )


def _branch(statement: Node, node: Node) -> int:
    """Which branch of an ``if`` a node is in, by its place."""
    return next(
        (
            child.start_byte
            for child in statement.named_children
            if child.start_byte <= node.start_byte < child.end_byte
        ),
        -1,
    )


def bypassed_wrapper(context: Context) -> Iterator[Hit]:
    """A test that launches the kernel itself, past the wrapper."""
    name = pro_test(context.file, context.project)
    if name is None or not any(n.endswith("_wrapper") or "_wrapper_module" in n for n in public_wrappers(context.file)):
        return
    for function, node in functions(context.file).items():
        if function.startswith("test"):
            for one in launches(context.file, node):
                yield Hit(*span(one.place), "default", {"kernel": one.kernel, "test": function})


def lost_default(context: Context) -> Iterator[Hit]:
    """A parameter that is optional in the reference and not in the wrapper."""
    name = pro_test(context.file, context.project)
    if name is None or context.project is None or is_staged(context.file, name):
        return
    wrapper = functions(context.file).get(f"{name.op}_wrapper")
    if wrapper is None:
        return
    mine = list(parameters(context.file, wrapper))
    optional: dict[str, tuple[str, File, Node]] = {}
    for golden in context.project.files("pypto-golden"):
        stem = golden.path.rpartition("/")[2].removesuffix(".py")
        function = functions(golden).get(stem)
        if stem not in (f"{name.op}_golden", f"{name.op}_golden_cpu") or function is None:
            continue
        for one in parameters(golden, function):
            if one.default is not None:
                optional.setdefault(one.name, (text(golden.data, one.default), golden, one.node))
    lost = [p for p in mine if p.default is None and p.role != "star" and p.name in optional]
    for parameter in lost:
        value, golden, where = optional[parameter.name]
        behind = mine[mine.index(parameter) :]
        # What follows needs a default as well, or the list does not parse: the first one's fix gives them all.
        fix = None
        if parameter is lost[0] and all(p.default is not None or p.role == "star" or p in lost for p in behind):
            fix = Fix(tuple(_given(p, optional[p.name][0]) for p in behind if p in lost))
        stem = golden.path.rpartition("/")[2]
        note = {"zh": f"{stem} 里默认 {value}", "en": f"{value} by default in {stem}"}
        args = {"name": parameter.name, "value": value, "file": stem}
        yield Hit(*span(parameter.node), "default", args, fix, None, (Related(*span(where), note, golden.path),))


def _given(parameter: Parameter, value: str) -> Edit:
    """A default for a parameter, blanks as PEP 8 has them."""
    end = (parameter.annotation or parameter.node).end_byte
    return Edit(end, end, f"={value}" if parameter.annotation is None else f" = {value}")


def beyond_boundary(context: Context) -> Iterator[Hit]:
    """Work on tensors in the wrapper, or in what it calls, that the kernel is there for."""
    file = context.file
    wrappers = public_wrappers(file)
    if not wrappers or not (pro_kernels(context) or _imports_kernel(context)):
        return
    second = generation(context.project) == 2
    inside = [(one.node.start_byte, one.node.end_byte) for one in traced(context)]
    for node in host_side(file, list(wrappers.values())).values():
        view = Context(file, node.start_byte, node.end_byte, node)
        tensors = _tensors(view, node)
        for hit in (
            *_functions(view, second=second),
            *_methods(view, tensors, second=second),
            *_operators(view, tensors),
        ):
            if not any(start <= hit.start < end for start, end in inside):
                yield hit


def _imports_kernel(context: Context) -> bool:
    return any("kernel" in (one.name or "") for one in py.imports(context))


def _tensors(view: Context, node: Node) -> set[str]:
    """Names of a function that hold tensors, as far as it says."""
    annotated = {
        p.name for p in parameters(view.file, node)
        if p.annotation is not None and re.search(r"\bTensor\b", text(view.file.data, p.annotation))
    }  # fmt: skip
    bare = {
        p.name
        for p in parameters(view.file, node)
        if p.role == "bare" and p.default is None and p.name not in ("self", "cls")
    }
    made = tensors_of(view, node) - {p.name for p in parameters(view.file, node)}
    # A bare parameter is a tensor if it is used as one.
    used = {
        name
        for name in bare
        if re.search(
            rb"(?<![\w.])%s\.(?:shape|dtype|device|dim|to|view|contiguous|reshape)\b" % re.escape(name.encode()),
            view.code[view.start : view.end],
        )
    }
    return annotated | made | used


def _functions(view: Context, *, second: bool) -> Iterator[Hit]:
    for match in _FUNCTION.finditer(view.code, view.start, view.end):
        dotted = match[0].rstrip(b" \t").decode()
        head, _, last = dotted.rpartition(".")
        part = head.split(".")[1] if "." in head else ""
        if py.call_at(view.file, match.start() + len(dotted) - len(last), match.start() + len(dotted)) is None:
            continue
        if last[:1].isupper() and last != "Generator":
            continue
        torch = dotted.startswith("torch")
        computes = not torch or not (last in ALLOWED or part in PARTS)
        if computes or (second and last not in _SECOND):
            yield Hit(
                match.start(), match.start() + len(dotted), "default" if computes else "support", {"written": dotted}
            )


def _methods(view: Context, tensors: set[str], *, second: bool) -> Iterator[Hit]:
    for match in _CALL.finditer(view.code, view.start, view.end):
        parts = match[2].decode().split(".")[1:]
        if match[1].decode() not in tensors or parts[0] in ("shape", "dtype", "device", "layout"):
            continue
        method, start = parts[0], match.start(2) + 1
        computes = METHOD.match(b"." + method.encode() + b"(") is not None
        if computes or (second and method not in _METADATA):
            args = {"written": f".{method}", "name": match[1].decode()}
            yield Hit(start, start + len(method), "method" if computes else "support-method", args)
    if not second:
        return
    for match in re.finditer(rb"(?<![\w.])(\w+)\[", view.code[view.start : view.end]):
        at = view.start + match.start()
        if match[1].decode() in tensors:
            named = view.node_at(at, at + len(match[1]))
            subscript = named.parent if named is not None else None
            if (
                subscript is not None
                and subscript.type == "subscript"
                and subscript.child_by_field_name("value") == named
            ):
                yield Hit(*span(subscript), "slice", {"written": view.text(subscript), "name": match[1].decode()})


def _operators(view: Context, tensors: set[str]) -> Iterator[Hit]:
    for match in _OPERATOR.finditer(view.code, view.start, view.end):
        node = view.node_at(match.start(), match.end())
        if node is None or node.type != "binary_operator" or node.child_by_field_name("operator") is None:
            continue
        operator = node.child_by_field_name("operator")
        sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        if operator is None or operator.start_byte != match.start():
            continue
        if any(side is not None and side.type == "identifier" and view.text(side) in tensors for side in sides):
            yield Hit(*span(node), "operator", {"written": view.text(node)})
