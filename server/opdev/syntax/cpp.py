"""AscendC C++ as checks ask about it: calls, functions, constants.

Names are searched in blanked text first; the tree is asked only where one was found.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from opdev.syntax.file import File
from opdev.syntax.pieces import Piece
from opdev.syntax.tree import ancestor
from opdev.syntax.view import View

if TYPE_CHECKING:
    from tree_sitter import Node

_CALLEES = {"qualified_identifier", "template_function", "template_method", "field_expression", "dependent_name",
            "scoped_identifier", "template_type"}  # fmt: skip
_DEVICE = re.compile(
    rb"__aicore__|\[aicore\]|__global__|SHMEM_DEVICE|__sim[td]_(?:vf|callee)__|SIMT_DEVICE|SIMT_WARP|CATLASS_DEVICE"
    rb"|AICORE\b|SHMEM_GLOBAL|CATLASS_GLOBAL"
)
_ENTRY = re.compile(rb"__global__|SHMEM_GLOBAL|CATLASS_GLOBAL")


@dataclass(frozen=True)
class Call:
    """One call.  ``name`` is the last part of the callee (``SetFlag`` of ``AscendC::SetFlag<…>``)."""

    name: str
    node: Node
    name_node: Node
    file: File

    @cached_property
    def callee(self) -> str:
        """The callee as written, with namespace and template arguments."""
        function = self.node.child_by_field_name("function")
        return self._text(function) if function is not None else self.name

    @cached_property
    def namespace(self) -> str:
        """What stands before the name: ``AscendC``, ``Tile<T>``, or nothing."""
        function = self.node.child_by_field_name("function")
        before = self.file.data[function.start_byte : self.name_node.start_byte] if function is not None else b""
        head = before.decode("utf-8", "replace").rstrip().removesuffix("template").rstrip()
        return head[:-2].rstrip() if head.endswith("::") else ""

    @cached_property
    def args(self) -> list[Node]:
        """The arguments, comments left out."""
        found = self.node.child_by_field_name("arguments")
        return [a for a in found.named_children if a.type != "comment"] if found is not None else []

    @cached_property
    def arg_texts(self) -> list[str]:
        return [self._text(a) for a in self.args]

    @cached_property
    def targs(self) -> list[str]:
        """The function's template arguments as written, not those of what stands before it."""
        above = self.name_node.parent
        found = (
            above.child_by_field_name("arguments") if above is not None and above.type != "call_expression" else None
        )
        if found is None or found.type != "template_argument_list":
            return []
        return [self._text(a) for a in found.named_children if a.type != "comment"]

    @property
    def start(self) -> int:
        return self.node.start_byte

    @property
    def end(self) -> int:
        return self.node.end_byte

    @cached_property
    def statement(self) -> Node:
        """The statement the call belongs to (the call itself at file scope)."""
        here = self.node
        while here.parent is not None and not here.type.endswith(("_statement", "declaration")):
            if here.parent.type in ("compound_statement", "translation_unit", "case_statement"):
                break
            here = here.parent
        return here

    @property
    def is_statement(self) -> bool:
        """Whether the call stands alone, its value unused."""
        return self.node.parent is not None and self.node.parent.type == "expression_statement"

    @cached_property
    def function(self) -> Node | None:
        """The function definition around the call."""
        return ancestor(self.node, "function_definition")

    def _text(self, node: Node) -> str:
        return self.file.data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def calls(view: View, *names: str) -> list[Call]:
    """Calls of the named functions in the view's range, in text order."""
    found: list[Call] = []
    for name in names:
        size = len(name)
        for at in view.find(name):
            call = call_at(view.file, at, at + size)
            if call is not None:
                found.append(call)
    found.sort(key=lambda call: call.start)
    return found


def calls_matching(view: View, pattern: re.Pattern[bytes]) -> list[Call]:
    """Calls whose name matches ``pattern`` (anchor it with ``\\b``), in text order."""
    found: list[Call] = []
    for start, end in view.spans(pattern):
        call = call_at(view.file, start, end)
        if call is not None and call.name == view.code[start:end].decode():
            found.append(call)
    return found


def call_at(file: File, start: int, end: int) -> Call | None:
    """The call whose callee's last name is at ``[start, end)``; None for a mere mention."""
    # Many rules ask about the same few calls, and then for the same arguments.
    return file.memo(("cpp.call", start, end), lambda: _call_at(file, start, end))


def _call_at(file: File, start: int, end: int) -> Call | None:
    node = file.root.named_descendant_for_byte_range(start, end - 1)
    if node is None or node.start_byte != start:
        return None
    here = node
    while here.parent is not None and here.parent.type in _CALLEES:
        above = here.parent
        if above.type == "field_expression" and above.child_by_field_name("field") != here:
            return None
        if above.type in ("qualified_identifier", "scoped_identifier") and above.child_by_field_name("name") != here:
            return None
        here = above
    call = here.parent
    if call is None or call.type != "call_expression" or call.child_by_field_name("function") != here:
        return None
    name = file.data[node.start_byte : node.end_byte].decode("utf-8", "replace").split("<", 1)[0].strip()
    return Call(name, call, node, file)


def all_calls(view: View) -> list[Call]:
    """Every call in the range, in text order (dear: prefer ``calls``)."""

    def collect() -> list[Call]:
        from opdev.syntax.tree import walk

        found = []
        for node in walk(view.file.root):
            if node.type == "call_expression":
                function = node.child_by_field_name("function")
                last = last_name(function) if function is not None else None
                if last is not None:
                    text = view.text(last).split("<", 1)[0].strip()
                    found.append(Call(text, node, last, view.file))
        return found

    every = view.file.memo("cpp.all_calls", collect)
    return [c for c in every if view.start <= c.start < view.end]


def last_name(node: Node) -> Node | None:
    """The identifier that names a callee: ``f`` of ``a::b<T>::f<U>`` and of ``x.f``."""
    here: Node | None = node
    while here is not None and here.type in _CALLEES:
        if here.type == "dependent_name":
            here = here.named_children[-1] if here.named_children else None
        else:
            here = here.child_by_field_name("field" if here.type == "field_expression" else "name")
    return here


_WITHOUT_FUNCTIONS = {"expression_statement", "comment", "preproc_include", "preproc_def", "template_parameter_list",
                      "parameter_list", "primitive_type", "type_identifier", "identifier"}  # fmt: skip


def functions(view: View) -> list[Node]:
    """Function definitions in the range, in text order."""
    every, starts = _functions(view.file)
    return every[bisect_left(starts, view.start) : bisect_left(starts, view.end)]


def function_at(file: File, offset: int) -> Node | None:
    """The function definition that holds an offset."""
    every, starts = _functions(file)
    index = bisect_right(starts, offset) - 1
    return every[index] if index >= 0 and offset < every[index].end_byte else None


def _functions(file: File) -> tuple[list[Node], list[int]]:
    def collect() -> tuple[list[Node], list[int]]:
        found: list[Node] = []
        for segment in file.segments:
            stack = [segment.node] if segment.node is not None else []
            while stack:
                node = stack.pop()
                if node.type == "function_definition":
                    found.append(node)
                elif node.type not in _WITHOUT_FUNCTIONS:
                    stack.extend(reversed(node.named_children))
        return found, [f.start_byte for f in found]

    return file.memo("cpp.functions", collect)


def function_name(file: File, function: Node) -> str:
    """The name of a function definition, without its class; empty if it has none."""
    here = function.child_by_field_name("declarator")
    while here is not None and here.type not in ("identifier", "field_identifier", "qualified_identifier", "destructor_name",
                                                 "operator_name", "template_function"):  # fmt: skip
        here = here.child_by_field_name("declarator") or (here.named_children[0] if here.named_children else None)
    if here is None:
        return ""
    return file.source.text(here.start_byte, here.end_byte).rpartition("::")[2]


def head(file: File, function: Node) -> bytes:
    """What stands before a function's body as written: qualifiers, type, name, parameters."""
    return file.memo(("cpp.head", function.start_byte, function.end_byte), lambda: _head(file, function))


def _head(file: File, function: Node) -> bytes:
    body = function.child_by_field_name("body")
    start = function.start_byte
    # Qualifiers are masked for the parser, so a leading one lies before the node.
    line = file.data.rfind(b"\n", 0, start) + 1
    previous = file.data.rfind(b"\n", 0, max(line - 1, 0)) + 1
    lead = file.code[previous:start]
    cut = max(lead.rfind(b";"), lead.rfind(b"}"), lead.rfind(b"{"))
    begin = previous + cut + 1
    return file.code[begin : body.start_byte if body is not None else function.end_byte]


def is_device(file: File, function: Node | None) -> bool:
    """Whether a function runs on the device (``__aicore__``, ``ACLSHMEM_DEVICE``, …)."""
    if function is None:
        return False
    return _DEVICE.search(head(file, function)) is not None


def is_kernel_entry(file: File, function: Node | None) -> bool:
    """Whether a function is launched (``__global__``)."""
    return function is not None and _ENTRY.search(head(file, function)) is not None


def parameters(file: File, function: Node) -> list[tuple[str, str]]:
    """(type as written, name) of each parameter."""
    here = function.child_by_field_name("declarator")
    while here is not None and here.type != "function_declarator":
        here = here.child_by_field_name("declarator")
    found: list[tuple[str, str]] = []
    listed = here.child_by_field_name("parameters") if here is not None else None
    for parameter in listed.named_children if listed is not None else []:
        if parameter.type not in ("parameter_declaration", "optional_parameter_declaration"):
            continue
        # A leading qualifier is masked for the parser, so it lies before the node.
        begin = parameter.prev_sibling.end_byte if parameter.prev_sibling is not None else parameter.start_byte
        text = file.source.text(begin, parameter.end_byte).split("=", 1)[0]
        match = re.fullmatch(r"(?s)(.*?)([A-Za-z_]\w*)\s*(?:\[[^\]]*\])?\s*", text)
        if match:
            found.append((match.group(1).strip(), match.group(2)))
    return found


_CONST = re.compile(
    rb"const(?:expr)?\b[^;={}()\n]*?\b(?P<name>[A-Za-z_]\w*)\s*(?:=|\{)\s*(?P<value>[^;{}]+?)\s*\}?\s*;"
)
_DEFINE = re.compile(rb"define[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]+(?P<value>[^\n]+)$", re.MULTILINE)
_ARITHMETIC = re.compile(r"[\w\s+\-*/%()<>&|^~':]+")
_CASTS = re.compile(r"\b(?:static_cast|reinterpret_cast)\s*<(?![^<>]*\b(?:float|double|half|bfloat16_t)\b)[^<>]*>\s*")
_TYPE_CALLS = re.compile(r"\b(?:u?int(?:8|16|32|64)_t|size_t|unsigned|long|int)\s*(?=\()")
_TYPE_CASTS = re.compile(r"\(\s*(?:u?int(?:8|16|32|64)_t|size_t|unsigned|long|int)(?:\s+(?:long|int))*\s*\)")
_SIZEOF = re.compile(r"\bsizeof\s*\(\s*([\w:]+)\s*\)")
_NUMBER = re.compile(r"\b(0[xX][0-9a-fA-F']+|0[bB][01']+|\d[\d']*)[uUlL]*")
_SIZES = {
    "int8_t": 1, "uint8_t": 1, "char": 1, "bool": 1, "half": 2, "float16": 2, "bfloat16_t": 2, "int16_t": 2,
    "uint16_t": 2, "fp16_t": 2, "bf16_t": 2, "int32_t": 4, "uint32_t": 4, "int": 4, "float": 4, "int64_t": 8,
    "uint64_t": 8, "double": 8, "size_t": 8,
}  # fmt: skip


def constants(file: File) -> Mapping[str, int]:
    """Integer constants of the file (``constexpr``, ``const``, ``#define``) that can be computed."""
    return _constants(file)[0]


def constants_by_word(file: File) -> Mapping[bytes, int]:
    """As ``constants``, by the bytes of the name; the very same mapping for as long as nothing changes."""
    return _constants(file)[1]


_Known = tuple[Mapping[str, int], Mapping[bytes, int]]


def _constants(file: File) -> _Known:
    def collect() -> _Known:
        code, pieces = file.code, file.pieces
        if pieces is not None:
            every = file.each(_defined, _of_piece)
        else:
            every = [_defined(code[segment.start : segment.end]) for segment in file.segments]
        return _computed(tuple([some for some in every if some]))

    return file.memo("cpp.constants", collect)


def _of_piece(piece: Piece) -> tuple[tuple[str, str], ...]:
    return _defined(piece.code)


@lru_cache(maxsize=64)
def _computed(definitions: tuple[tuple[tuple[str, str], ...], ...]) -> _Known:
    known: dict[str, int] = {}
    ambiguous: set[str] = set()
    for name, text in (one for some in definitions for one in some):
        value = evaluate(text, known)
        if name in ambiguous or (name in known and known[name] != value):
            # Two functions, or two branches of #if, give one name two values: nobody may rely on either.
            ambiguous.add(name)
            known.pop(name, None)
        elif value is not None:
            known[name] = value
    return known, {name.encode(): value for name, value in known.items()}


def _defined(code: bytes) -> tuple[tuple[str, str], ...]:
    """(name, value) of the constants one definition's text gives, in text order."""
    found: list[re.Match[bytes]] = []
    for word, pattern in ((b"const", _CONST), (b"define", _DEFINE)):
        at = code.find(word)
        while at >= 0:
            if code[at - 1 : at] in (b"", b" ", b"\n", b"\t", b"#", b"(", b";", b"{", b"\r"):
                match = pattern.match(code, at)
                if match is not None:
                    found.append(match)
                    at = match.end() - 5
            at = code.find(word, at + 5)
    found.sort(key=lambda match: match.start())
    return tuple((m["name"].decode("utf-8", "replace"), m["value"].decode("utf-8", "replace")) for m in found)


_LARGE_UB = (b"udma", b"simt", b"Simt", b"__NPU_ARCH__", b"ASCEND950", b"dav_3510", b"950")


def has_large_ub(file: File) -> bool:
    """Whether the file is written for the generation that has UDMA, SIMT and 256 KB of UB."""

    def collect() -> bool:
        if file.pieces is not None:
            return True in file.each(_LARGE_UB, _speaks_of_large_ub)
        return any(word in file.code for word in _LARGE_UB)

    return file.memo("cpp.large_ub", collect)


def _speaks_of_large_ub(piece: Piece) -> bool:
    return any(word in piece.code for word in _LARGE_UB)


def evaluate(text: str, known: Mapping[str, int] | None = None) -> int | None:
    """The value of an integer constant expression; None if it is not one."""
    tree = expression(text)
    return None if tree is None else _value(tree, known or {})


@lru_cache(maxsize=8192)
def expression(text: str) -> object:
    """The syntax of a constant expression, casts left out; None for anything else."""
    import ast

    text = text.strip()
    if not text or len(text) > 400 or not _ARITHMETIC.fullmatch(text):
        return None
    text = _SIZEOF.sub(lambda m: str(_SIZES.get(m[1].rpartition("::")[2], m[0])), text)
    text = _CASTS.sub("", text)
    text = _TYPE_CALLS.sub("", text)
    text = _TYPE_CASTS.sub("", text)
    text = _NUMBER.sub(lambda m: str(_int(m[1])), text)
    if len(text) > 200 or "," in text or ":" in text:
        return None
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return None


def _int(text: str) -> int:
    digits = text.replace("'", "")
    if digits[:2] in ("0x", "0X"):
        return int(digits, 16)
    if digits[:2] in ("0b", "0B"):
        return int(digits, 2)
    return (
        int(digits, 8)
        if len(digits) > 1 and digits[0] == "0" and digits.isdigit() and "8" not in digits and "9" not in digits
        else int(digits)
    )


def _value(node: object, known: Mapping[str, int]) -> int | None:
    import ast

    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.UnaryOp):
        inner = _value(node.operand, known)
        if inner is None:
            return None
        return {"USub": -inner, "UAdd": inner, "Invert": ~inner}.get(type(node.op).__name__)
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, known), _value(node.right, known)
        if left is None or right is None:
            return None
        return _binary(type(node.op).__name__, left, right)
    return None


def _binary(operator: str, left: int, right: int) -> int | None:
    if operator in ("Div", "FloorDiv", "Mod"):
        if not right:
            return None
        # C++ rounds towards zero, Python down.
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return left - quotient * right if operator == "Mod" else quotient
    if operator == "LShift":
        return left << right if 0 <= right < 128 else None
    if operator == "RShift":
        return left >> right if right >= 0 else None
    table = {"Add": left + right, "Sub": left - right, "Mult": left * right, "BitAnd": left & right, "BitOr": left | right,
             "BitXor": left ^ right}  # fmt: skip
    return table.get(operator)
