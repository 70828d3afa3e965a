"""Arguments of SHMEM calls: order, constants, units, alignment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from opdev.api import table
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit
from opdev.syntax import cpp
from opdev.syntax.file import File

_MOVES = re.compile(rb"\b(?:acl)?shmemx?_\w*(?:put|get)\w*(?=\s*[(<])")
_SIGNALLING = re.compile(rb"\b(?:acl)?shmemx?_\w*(?:signal|_wait_until|_test)\w*(?=\s*[(<])")
_OPERATION = re.compile(r"ACLSHMEM_SIGNAL_(?:SET|ADD)")
_COMPARISON = re.compile(r"ACLSHMEM_CMP_(?:EQ|NE|GT|GE|LT|LE)")
_UNPREFIXED = re.compile(r"(?:SIGNAL_(?:SET|ADD)|CMP_(?:EQ|NE|GT|GE|LT|LE))")
BYTE_TYPES = frozenset({"uint8_t", "int8_t", "char", "void", "unsigned char", "signed char", "bool", "fp8_e4m3fn_t",
                        "GM_ADDR", "std::byte"})  # fmt: skip


def _operation_index(name: str) -> int | None:
    """Where a call takes its signal operation."""
    if name.startswith("aclshmemx_signal_op"):
        return 2
    if re.fullmatch(r"aclshmemx?_\w*put\w*_signal(?:_nbi)?", name) and "_udma_" not in name:
        return 5
    return None


def _comparison_index(name: str) -> int | None:
    """Where a wait or test takes its comparison."""
    if name.startswith(("aclshmem_signal_wait_until", "aclshmemx_signal_wait_until")):
        return 1
    if re.fullmatch(r"aclshmem_[a-z0-9]+_(?:wait_until|test)", name):
        return 1
    if re.search(r"_(?:wait_until|test)_some", name):
        return 4
    if re.search(r"_(?:wait_until|test)_(?:all|any)", name):
        return 3
    return None


def misplaced_constant(context: Context) -> Iterator[Hit]:
    """A signal operation or comparison given where the call takes something else."""
    for call in cpp.calls_matching(context, _SIGNALLING):
        api = table.lookup(call.name)
        if api is None:
            continue
        for index, pattern in ((_operation_index(api.name), _OPERATION), (_comparison_index(api.name), _COMPARISON)):
            texts = call.arg_texts
            if index is None or index >= len(texts):
                continue
            here = [i for i, text in enumerate(texts) if pattern.fullmatch(text)]
            node = call.args[index]
            other = _COMPARISON if pattern is _OPERATION else _OPERATION
            if other.fullmatch(texts[index]):
                args = {"name": texts[index], "call": call.name, "place": index + 1}
                yield Hit(node.start_byte, node.end_byte, message="kind", args=args)
            elif len(here) == 1 and here[0] != index:
                wrong = call.args[here[0]]
                args = {"name": texts[here[0]], "call": call.name, "place": index + 1, "found": here[0] + 1}
                fix = Fix(
                    (
                        Edit(wrong.start_byte, wrong.end_byte, texts[index]),
                        Edit(node.start_byte, node.end_byte, texts[here[0]]),
                    )
                )
                yield Hit(wrong.start_byte, wrong.end_byte, args=args, fix=fix)


def unprefixed_constant(context: Context) -> Iterator[Hit]:
    """``SIGNAL_SET`` or ``CMP_EQ`` without its prefix in a SHMEM call."""
    for call in cpp.calls_matching(context, _SIGNALLING):
        if table.lookup(call.name) is None:
            continue
        for node, text in zip(call.args, call.arg_texts, strict=True):
            if _UNPREFIXED.fullmatch(text) and not context.file.memo(
                ("api_args.declares", text), partial(_declares, context.file, text)
            ):
                new = "ACLSHMEM_" + text
                fix = Fix((Edit(node.start_byte, node.end_byte, new),))
                yield Hit(node.start_byte, node.end_byte, args={"name": text, "new": new}, fix=fix)


def _declares(file: File, name: str) -> bool:
    word = name.encode()
    return (
        re.search(rb"#[ \t]*define[ \t]+" + word + rb"\b|\b" + word + rb"\s*=[^=]|\busing\s[^;]*" + word, file.code)
        is not None
        or re.search(rb"\benum\b[^{};]*\{[^}]*\b" + word + rb"\b", file.code) is not None
    )


def unsupported_cmo(context: Context) -> Iterator[Hit]:
    """A cache operation other than prefetch."""
    for call in cpp.calls(context, "aclshmemx_cmo_nbi"):
        for node, text in zip(call.args, call.arg_texts, strict=True):
            match = re.search(r"CMO_TYPE_(?:WRITEBACK|INVALID)\b", text)
            if match:
                start = node.start_byte + len(text[: match.start()].encode())
                end = start + len(match.group())
                fix = Fix((Edit(start, end, "CMO_TYPE_PREFETCH"),))
                yield Hit(start, end, args={"name": match.group()}, fix=fix)


def bad_alignment(context: Context) -> Iterator[Hit]:
    """``aclshmem_align`` with an alignment that is no power of two."""
    for call in cpp.calls(context, "aclshmem_align", "aclshmemx_align", "shmem_align"):
        if len(call.args) < 2:
            continue
        node, text = call.args[0], call.arg_texts[0]
        value = cpp.evaluate(text, cpp.constants(context.file))
        if value is None or (value > 0 and value & (value - 1) == 0):
            continue
        fix = None
        if value > 0 and text.isdigit():
            fix = Fix((Edit(node.start_byte, node.end_byte, str(1 << value.bit_length())),))
        args = {"value": value, "text": text, "next": 1 << max(value, 0).bit_length()}
        yield Hit(node.start_byte, node.end_byte, args=args, fix=fix)


_BYTES_CALL = re.compile(r"aclshmemx?_(?:put|get)mem(?:_\w+)?")
_TYPED_CALL = re.compile(
    r"aclshmemx?_(?:(?P<type>u?int(?:8|16|32|64)|half|float|double|bfloat16|char)_(?:put|get)|(?:put|get)(?P<bits>\d+))"
    r"(?:_nbi|_signal|_signal_nbi|_block|_warp|_nbi_block|_nbi_warp)?"
)
_ENGINE_CALL = re.compile(r"aclshmemx_(?:mte|sdma|roce|udma)_(?:put|get)_nbi")
_ELEMENTS = re.compile(
    r"(?:n_?|num_?|total_?)?elem(?:ent)?s?(?:_?(?:count|num|cnt|size))?|numel|\w+_(?:elems|elements|numel)"
)
_BYTES_NAME = re.compile(r"(?:n_?)?bytes|\w+_n?bytes|\w+(?:Bytes|ByteSize|SizeInBytes)|byte_(?:count|size|len)")
_TIMES_SIZE = re.compile(r"\*\s*sizeof\s*\(|\bsizeof\s*\([^()]*\)\s*\*")


def size_unit_mismatch(context: Context) -> Iterator[Hit]:
    """A byte count where the call counts elements, or elements where it counts bytes."""
    for call in cpp.calls_matching(context, _MOVES):
        api = table.lookup(call.name)
        if api is None or len(call.args) < 3 or call.function is None:
            continue
        if _BYTES_CALL.fullmatch(api.name):
            yield from _counts_elements(context, call)
        elif api.name.startswith("aclshmem") and (_TYPED_CALL.fullmatch(api.name) or _ENGINE_CALL.fullmatch(api.name)):
            yield from _counts_bytes(context, call, api.name)


def _counts_elements(context: Context, call: cpp.Call) -> Iterator[Hit]:
    node, text = call.args[2], call.arg_texts[2]
    if not _ELEMENTS.fullmatch(text):
        return
    kind = element_type(context, call)
    if kind is None or kind in BYTE_TYPES:
        return
    function = call.function
    assert function is not None
    body = context.code[context.start : function.end_byte]
    for match in re.finditer(rb"\b" + text.encode() + rb"\s*\*?=\s*([^;]+);", body):
        if re.search(rb"sizeof|[Bb]ytes", match[1]):
            return
    args = {"name": call.name, "text": text, "type": kind}
    fix = Fix((Edit(node.end_byte, node.end_byte, f" * sizeof({kind})"),), title="bytes")
    yield Hit(node.start_byte, node.end_byte, message="elements", args=args, fix=fix)


def _counts_bytes(context: Context, call: cpp.Call, name: str) -> Iterator[Hit]:
    typed = _TYPED_CALL.fullmatch(name)
    # mte and sdma take their scratch's size before the count; UB forms take no scratch at all.
    if typed:
        index = 2
    elif "_roce_" in name or "_udma_" in name:
        index = 3
    else:
        index = {7: 4, 6: 3, 5: 2}.get(len(call.args), -1)
    if not 0 <= index < len(call.args):
        return
    node, text = call.args[index], call.arg_texts[index]
    times = _TIMES_SIZE.search(text) is not None and "/" not in text
    if not times and not _BYTES_NAME.fullmatch(text):
        return
    if typed:
        one_byte = typed["type"] in ("int8", "uint8", "char") or typed["bits"] == "8"
        kind = None if one_byte else typed["type"] or f"{typed['bits']} bit"
    else:
        kind = element_type(context, call)
    if kind is None or kind in BYTE_TYPES:
        return
    fix = None
    match = re.fullmatch(r"(.+?)\s*\*\s*sizeof\s*\([^()]*\)", text) if times else None
    if match and match[1].count("(") == match[1].count(")"):
        fix = Fix((Edit(node.start_byte, node.end_byte, match[1]),))
    yield Hit(node.start_byte, node.end_byte, args={"name": call.name, "text": text, "type": kind}, fix=fix)


_CAST = re.compile(
    r"(?:^\(\s*|reinterpret_cast\s*<\s*)(?:__(?:gm|ubuf)__\s+)?(?:const\s+)?(?P<type>[\w:]+)\s*\*\s*[)>]"
)


def element_type(context: Context, call: cpp.Call) -> str | None:
    """What the first two arguments point to, where the function itself says so and they agree."""
    if call.targs and re.fullmatch(r"[\w:]+", call.targs[0]):
        return call.targs[0]
    function = call.function
    end = function.end_byte if function is not None else context.start
    found = {_pointee(context, text, end) for text in call.arg_texts[:2]}
    return found.pop() if len(found) == 1 else None


# What stands right before a name where it is declared: a pointer, a tensor, an address.
_DECLARATOR = re.compile(
    rb"(?:\b(?P<pointer>[A-Za-z_][\w:]*)\s*\*+\s*(?:__restrict__?\s+)?"
    rb"|\b(?:Local|Global)Tensor\s*<\s*(?P<tensor>[\w:]+)\s*>\s*&?\s*|\bGM_ADDR\s+)\Z"
)


def _pointee(context: Context, text: str, end: int) -> str | None:
    """What an expression points to by what is declared before ``end``."""
    cast = _CAST.search(text)
    if cast:
        return cast["type"]
    word = re.match(r"&?\s*([A-Za-z_]\w*)\s*(?:$|\[|\+|\.GetPhyAddr)", text)
    if word is None:
        return None
    key = ("api_args.declared", context.start, context.end, word[1])
    declared = context.file.memo(key, lambda: _declared(context, word[1].encode()))
    kinds = [kind for kind, at in declared.items() if at < end]
    return kinds[0] if len(kinds) == 1 else None


def _declared(context: Context, name: bytes) -> dict[str, int]:
    """The types a name is declared with in the context's range, and where each is met first."""
    found: dict[str, int] = {}
    for at in context.find(name):
        before = _DECLARATOR.search(context.code, max(context.start, at - 60), at)
        if before is not None:
            found.setdefault((before["pointer"] or before["tensor"] or b"GM_ADDR").decode(), at)
    return found
