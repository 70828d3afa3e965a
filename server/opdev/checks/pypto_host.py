"""What the host side of a PyPTO operator may compute: nothing the kernel is there for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.facts.pypto_kernels import is_for_trying, is_wrapper, kernels, parameters
from opdev.rules.context import Context
from opdev.rules.model import Hit
from opdev.syntax import py

if TYPE_CHECKING:
    from tree_sitter import Node

# Calls of torch that compute nothing: memory, layout, random inputs, devices, types, bookkeeping.
ALLOWED = frozenset(
    """
    Generator Parameter Size Tensor allclose any arange as_strided as_tensor bfloat16 bool broadcast_tensors cat chunk
    clone compile concat concatenate contiguous current_device current_stream device disable double dtype empty empty_like
    empty_strided enable_grad equal expand eye fill_ finfo flatten float from_numpy full full_like get_default_dtype
    get_device get_device_name half hstack iinfo inference_mode int int32 is_available is_complex is_floating_point
    is_grad_enabled is_tensor linspace load long manual_seed meshgrid movedim moveaxis narrow new_empty new_zeros no_grad
    numel ones ones_like permute promote_types rand rand_like randint randn randn_like randperm register_fake
    repeat_interleave reshape result_type save scalar_tensor seed set_default_dtype set_device set_grad_enabled
    set_printoptions short split squeeze stack stream swapaxes synchronize t tensor tensor_split tile to transpose tril triu typename
    unbind unflatten unsqueeze view vstack wait_stream zeros zeros_like Stream Event Library impl define custom_op
    allow_in_graph
    """.split()  # noqa: SIM905 - a page of quotes would be harder to read
)
# Parts of torch that are about something else than computing.
PARTS = frozenset({"library", "ops", "npu", "cuda", "testing", "utils", "distributed", "jit", "_dynamo", "profiler", "random",
                    "autograd", "onnx", "version", "backends", "classes", "compiler", "multiprocessing", "package", "hub"})  # fmt: skip
_METHODS = [
    "abs",
    "add",
    "add_",
    "addmm",
    "amax",
    "amin",
    "bmm",
    "ceil",
    "clamp",
    "cos",
    "cumsum",
    "div",
    "div_",
    "einsum",
    "exp",
    "floor",
    "gelu",
    "log",
    "log_softmax",
    "logsumexp",
    "matmul",
    "mean",
    "mm",
    "mul",
    "mul_",
    "neg",
    "norm",
    "pow",
    "prod",
    "reciprocal",
    "relu",
    "rsqrt",
    "sigmoid",
    "silu",
    "sin",
    "softmax",
    "sqrt",
    "square",
    "std",
    "sub",
    "sub_",
    "sum",
    "tanh",
    "var",
]
METHOD = re.compile(rb"\.(%s)[ \t]*\(" % "|".join(_METHODS).encode())
_FUNCTION = re.compile(rb"(?<![\w.])(?:torch(?:\.\w+)+|F\.\w+|functional\.\w+)[ \t]*\(")
_MAIN = re.compile(rb"""if\s+\(?__name__\s*==""")
_TENSOR_FROM = re.compile(
    r"torch\.\w+\(.*|.*\.(?:to|view|reshape|contiguous|transpose|permute|float|half|bfloat16|npu|cpu|clone)\(.*", re.S
)


def torch_arithmetic(context: Context) -> Iterator[Hit]:
    """Computing in torch, where the operator's kernel should."""
    if context.node is None or _MAIN.match(context.code, context.node.start_byte):
        return
    function = context.node
    if function.type == "decorated_definition":
        function = function.child_by_field_name("definition") or function
    name = function.child_by_field_name("name") if function.type == "function_definition" else None
    if name is not None and is_for_trying(context.text(name)):
        return
    traced = [(k.node.start_byte, k.node.end_byte) for k in kernels(context)]
    for match in _FUNCTION.finditer(context.code, context.start, context.end):
        dotted = match[0].rstrip(b" \t(").decode()
        head, _, last = dotted.rpartition(".")
        inside = head.split(".")[1] if "." in head else ""
        if head.startswith("torch") and (last in ALLOWED or inside in PARTS or last[:1].isupper()):
            continue
        if py.call_at(context.file, match.start() + len(dotted) - len(last), match.start() + len(dotted)) is not None:
            yield Hit(match.start(), match.start() + len(dotted), "default", {"written": dotted})
    if not _is_host(context, function, name):
        return
    tensors = tensors_of(context, function)
    for match in METHOD.finditer(context.code, context.start, context.end):
        if any(start <= match.start() < end for start, end in traced):
            continue
        call = py.call_at(context.file, match.start(1), match.end(1))
        if call is not None and _root(context, call.node) in tensors:
            yield Hit(match.start(1), match.end(1), "method", {"written": match[1].decode()})
    for at in _matmuls(context):
        node = context.node_at(at, at + 1)
        if node is None or node.type != "binary_operator" or any(start <= at < end for start, end in traced):
            continue
        yield Hit(at, at + 1, "operator")


def _is_host(context: Context, function: Node, name: Node | None) -> bool:
    """Whether tensors here are torch's: in a wrapper, and where torch is named and PyPTO is not."""
    if name is not None and is_wrapper(context.text(name)):
        return True
    code = context.code[function.start_byte : function.end_byte]
    return b"torch." in code and b"pypto." not in code


def _matmuls(context: Context) -> Iterator[int]:
    at = context.code.find(b"@", context.start, context.end)
    while at >= 0:
        line = context.code[context.code.rfind(b"\n", 0, at) + 1 : at]
        if line.strip():
            yield at
        at = context.code.find(b"@", at + 1, context.end)


def tensors_of(context: Context, function: Node) -> set[str]:
    """Names of a function that are torch tensors as far as it says: its parameters, and what torch made."""
    if function.type != "function_definition":
        return set()
    found = {
        p.name
        for p in parameters(context.file, function)
        if p.role == "foreign" or (p.role == "bare" and p.name not in ("self", "cls", "kwargs"))
    }
    for match in re.finditer(
        rb"^[ \t]+(\w+)[ \t]*=[ \t]*([^=\n][^\n]*)", context.code[context.start : context.end], re.MULTILINE
    ):
        if _TENSOR_FROM.fullmatch(match[2].decode("utf-8", "replace")):
            found.add(match[1].decode())
    return found


def _root(context: Context, call: Node) -> str:
    """The name a chain of attributes, subscripts and calls begins with; ``torch`` is no tensor itself."""
    here: Node | None = call
    while here is not None and here.type != "identifier":
        here = (
            here.child_by_field_name("function")
            or here.child_by_field_name("object")
            or here.child_by_field_name("value")
            if here.type in ("call", "attribute", "subscript")
            else (
                here.named_children[0] if here.type == "parenthesized_expression" and here.named_child_count else None
            )
        )
    if here is None:
        return ""
    # torch.ops… and size(…) give no tensors.
    return context.text(here)
