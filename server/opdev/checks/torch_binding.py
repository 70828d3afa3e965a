"""Torch bindings: what Python can reach, what is checked before memory is taken, what is kept between calls."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opdev.checks.tensor_flow import tensor_parameters
from opdev.facts.bindings import (
    BindingClass,
    binding_classes,
    declares,
    method,
    pascal_of,
    registrations,
)
from opdev.facts.local_values import values_given
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import cpp

if TYPE_CHECKING:
    from tree_sitter import Node

_MANAGER = ("attr_init", "finalize", "malloc_tensor", "malloc_like", "free_tensor", "get_name")
_NEEDED = _MANAGER[:-1]
_MOST = 6
_RAW = re.compile(rb"\b(?:storage\s*\(\s*\)|(?:mutable_|const_)?data_ptr\b)")


def incomplete_manager(context: Context) -> Iterator[Hit]:
    """A ``Manager`` without what every operator's test calls."""
    complete = False
    for cls in _managers(context):
        missing = [name for name in _NEEDED if not declares(context.file, cls, name)]
        if missing:
            yield Hit(cls.start, cls.end, args={"missing": ", ".join(missing)})
        complete = complete or not missing
    for registered in registrations(context.file) if complete else ():
        if registered.name == "Manager" and registered.functions is not None:
            left = [name for name in _NEEDED if name not in registered.functions]
            if left:
                yield Hit(registered.start, registered.end, "unregistered", {"missing": ", ".join(left)})


def misnamed_binding_class(context: Context) -> Iterator[Hit]:
    """A ``torch_bind_<op>.cpp`` whose class Python cannot find under the operator's name."""
    wanted = pascal_of(context.file.path)
    if wanted is None:
        return
    classes = [c for c in binding_classes(context.file) if c.name != "Manager"]
    if not classes:
        if b"Tensor" in context.file.words:
            function = next(iter(cpp.functions(context)), None)
            if function is not None:
                declarator = function.child_by_field_name("declarator") or function
                yield Hit(declarator.start_byte, declarator.end_byte, "missing", {"wanted": wanted})
        return
    for cls in classes:
        if cls.namespace != "ShmemOps":
            yield Hit(cls.start, cls.end, "namespace", {"name": cls.name})
    if not any(cls.name.lower() == wanted.lower() for cls in classes):
        yield Hit(classes[0].start, classes[0].end, args={"name": classes[0].name, "wanted": wanted})


def unregistered_class(context: Context) -> Iterator[Hit]:
    """A class that is never given to Torch, or with more functions than the macro takes."""
    known = registrations(context.file)
    registered_names = {r.name for r in known}
    for cls in binding_classes(context.file):
        if cls.name not in registered_names:
            functions = [name for name in ("compute", "get_name") if declares(context.file, cls, name)]
            if cls.name == "Manager":
                functions = [name for name in _MANAGER if declares(context.file, cls, name)]
            line = f"REGISTER_SHMEM_OPS_CLASS({', '.join([cls.name, *functions])});\n"
            lead = "" if context.data.endswith(b"\n") else "\n"
            fix = Fix((Edit(len(context.data), len(context.data), lead + line),)) if functions else None
            yield Hit(cls.start, cls.end, args={"name": cls.name}, fix=fix)
    for registered in known:
        if registered.functions is not None and len(registered.functions) > _MOST:
            args = {"name": registered.name, "count": len(registered.functions), "most": _MOST}
            yield Hit(registered.start, registered.end, "too-many", args)


_CHECK = re.compile(rb"\bTORCH_CHECK\w*\s*\((?P<text>[^;]*);")
_ASKS = {
    "dtype": re.compile(rb"\b(?:dtype|scalar_type|is_floating_point|itemsize|element_size)\b"),
    "device": re.compile(rb"\b(?:device\w*|is_npu|is_privateuseone|is_cpu|get_device)\b"),
    "shape": re.compile(rb"\b(?:sizes?|numel|dim|shape|sym_sizes|ndimension|nbytes)\b"),
}
_HELPER = re.compile(rb"(?i)\b\w*(?:check|valid|verify)\w*\s*\(")


def missing_tensor_checks(context: Context) -> Iterator[Hit]:
    """``compute`` that takes memory before it looked at dtype, device and shape."""
    for cls in binding_classes(context.file):
        compute = method(context.file, cls, "compute")
        if compute is None or not tensor_parameters(context.file, compute):
            continue
        raw = _RAW.search(context.code, compute.start_byte, compute.end_byte)
        if raw is None:
            continue
        before = context.code[compute.start_byte : raw.start()]
        asked = b" ".join(m["text"] for m in _CHECK.finditer(before) if not re.match(rb"\s*false\b", m["text"]))
        # A guard written as `if (...) { throw ...; }` asks as well.
        asked += b" ".join(
            re.findall(rb"\bif\s*\(([^{};]*)\)\s*\{?\s*(?:throw\b|TORCH_CHECK\s*\(\s*false|AT_ERROR)", before)
        )
        if any(not m.group().startswith((b"TORCH_", b"AT_")) for m in _HELPER.finditer(before)):
            continue
        missing = [what for what, pattern in _ASKS.items() if not pattern.search(asked)]
        if missing:
            declarator = compute.child_by_field_name("declarator")
            name = declarator.child_by_field_name("declarator") if declarator is not None else None
            shown = name or declarator or compute
            args = {"name": cls.name, "missing": ", ".join(missing)}
            related = (Related(raw.start(), raw.end(), {"zh": "这里已取内存地址", "en": "memory is taken here"}),)
            yield Hit(shown.start_byte, shown.end_byte, args=args, related=related)


def stale_call_count(context: Context) -> Iterator[Hit]:
    """``count_`` that is passed to the kernel and never changes, or changes and is never passed."""
    for cls in binding_classes(context.file):
        compute = method(context.file, cls, "compute")
        if compute is None or not re.search(rb"\b(?:int\w*|uint\w*|size_t)\s+count_\b", cls.code(context.file)):
            continue
        code = context.code[compute.start_byte : compute.end_byte]
        moved = re.search(rb"\bcount_\s*(?:\+\+|\+=|=)|\+\+\s*count_\b", code)
        uses = [m.start() + compute.start_byte for m in re.finditer(rb"\bcount_\b", code)]
        elsewhere = re.search(rb"\bcount_\s*(?:\+\+|\+=)|\+\+\s*count_\b", cls.code(context.file))
        if uses and moved is None and elsewhere is None and not re.search(rb"&\s*count_\b", code):
            yield Hit(uses[0], uses[0] + len(b"count_"))
        elif (
            moved is not None
            and len(uses) == 1
            and not re.search(rb"[(,]\s*(?:\+\+\s*)?count_|count_\s*\+\+\s*[,)]", code)
        ):
            yield Hit(uses[0], uses[0] + len(b"count_"), "unused")


_STATE = re.compile(rb"\b(?P<name>\w*(?:sync|flag|signal)\w*_)\s*=\s*(?:\([\w\s*]+\)\s*|(?:static|reinterpret)_cast\s*<[^<>]*>\s*\(\s*)?(?:acl)?shmemx?_(?P<how>malloc|calloc|align)\s*\(")  # fmt: skip


def unprepared_state_buffer(context: Context) -> Iterator[Hit]:
    """A signal buffer that starts with whatever the heap held, or is never freed."""
    for cls in binding_classes(context.file):
        text = cls.code(context.file)
        for match in _STATE.finditer(text):
            name = match["name"]
            start = cls.node.start_byte + match.start("name")
            args = {"name": name.decode()}
            cleared = match["how"] == b"calloc" or re.search(
                rb"\b(?:aclrtMemset\w*|aclrtMemcpy\w*)\s*\(\s*(?:\([^()]*\)\s*)?" + name + rb"\b", text
            )
            if not cleared:
                yield Hit(start, start + len(name), args=args)
            if not re.search(rb"\b(?:acl)?shmemx?_free\s*\(\s*(?:\([^()]*\)\s*)?" + name + rb"\b", text):
                yield Hit(start, start + len(name), "leaked", args, severity="warning")


def own_stream(context: Context) -> Iterator[Hit]:
    """A stream other than Torch's own in a binding."""
    if not binding_classes(context.file):
        return
    for call in cpp.calls(context, "aclrtCreateStream", "aclrtCreateStreamWithConfig"):
        yield Hit(call.start, call.end, args={"call": call.name})
    for call in cpp.calls(context, "getDefaultNPUStream"):
        edit = Edit(call.name_node.start_byte, call.name_node.end_byte, "getCurrentNPUStream")
        yield Hit(
            call.name_node.start_byte, call.name_node.end_byte, "default-stream", {"call": call.name}, Fix((edit,))
        )


def uninitialised_ffts_address(context: Context) -> Iterator[Hit]:
    """``fftsAddr_`` that is not what the runtime says."""
    for cls in binding_classes(context.file):
        text = cls.code(context.file)
        declared = re.search(rb"\buint64_t\s+(?P<name>ffts\w*_)\s*(?P<init>[=;{])", text, re.IGNORECASE)
        if declared is None:
            continue
        name = declared["name"]
        source = rb"\b" + name + rb"\s*(?:=|\(|\{)\s*(?:\w+::)*(?:\w*util_get_ffts_config|rtGetC2cCtrlAddr)"
        if re.search(source, text) or re.search(rb"rtGetC2cCtrlAddr\s*\(\s*&\s*" + name, text):
            continue
        used = method(context.file, cls, "compute")
        if used is None or not re.search(rb"\b" + name + rb"\b", context.code[used.start_byte : used.end_byte]):
            continue
        start = cls.node.start_byte + declared.start("name")
        fix = None
        set_elsewhere = len(re.findall(rb"\b" + name + rb"\s*[=({]", text)) > 0
        if declared["init"] == b";" and not set_elsewhere:
            fix = Fix((Edit(start + len(name), start + len(name), " = util_get_ffts_config()"),))
        yield Hit(start, start + len(name), args={"name": name.decode()}, fix=fix)


def host_copy_of_device_tensor(context: Context) -> Iterator[Hit]:
    """A device tensor of ``compute`` copied as if it lay on the host."""
    copies = cpp.calls(context, "aclrtMemcpy", "aclrtMemcpyAsync")
    for cls in binding_classes(context.file):
        compute = method(context.file, cls, "compute")
        if compute is None:
            continue
        names = tensor_parameters(context.file, compute)
        begin, end = (bisect_left(copies, at, key=lambda c: c.start) for at in (compute.start_byte, compute.end_byte))
        for call in copies[begin:end]:
            if len(call.args) < 5:
                continue
            source, kind = call.args[2], call.args[4]
            direction = context.text(kind)
            name = _tensor_behind(context, compute, source, names)
            if direction == "ACL_MEMCPY_HOST_TO_DEVICE" and name is not None:
                fix = Fix((Edit(kind.start_byte, kind.end_byte, "ACL_MEMCPY_DEVICE_TO_DEVICE"),))
                yield Hit(kind.start_byte, kind.end_byte, args={"name": name}, fix=fix)


def _tensor_behind(context: Context, compute: Node, node: Node, names: dict[str, str]) -> str | None:
    """The tensor parameter whose memory an expression is, directly or through one local pointer."""
    text = context.text(node)
    if re.fullmatch(r"[A-Za-z_]\w*", text):
        given = values_given(context.file, compute.start_byte, compute.end_byte).get(text, [])
        text = given[0][1] if bisect_right(given, node.start_byte, key=lambda one: one[0]) == 1 else ""
    match = re.search(r"(?<![\w.>])(\w+)\s*\.\s*(?:storage\s*\(\s*\)\s*\.\s*data|(?:mutable_|const_)?data_ptr)\b", text)
    name = match[1] if match else ""
    if name not in names or name in context.file.memo(("torch.cpu", compute.id), lambda: _on_cpu(context, compute)):
        return None
    return name


def _on_cpu(context: Context, compute: Node) -> frozenset[str]:
    """Words that stand before ``is_cpu`` in a statement."""
    statements = context.code[compute.start_byte : compute.end_byte].decode("utf-8", "replace").split(";")
    asked = (text.rpartition("is_cpu")[0] for text in statements if re.search(r"\bis_cpu\b", text))
    return frozenset(word for text in asked for word in re.findall(r"\w+", text))


def second_manager(context: Context) -> Iterator[Hit]:
    """A ``Manager`` in an operator's own binding file."""
    if pascal_of(context.file.path) in (None, "Manager"):
        return
    for cls in _managers(context):
        yield Hit(cls.start, cls.end)


def _managers(context: Context) -> list[BindingClass]:
    return [cls for cls in binding_classes(context.file) if cls.name == "Manager"]


_OWN = re.compile(
    r"/custom-ops/(?!torch_binding/)(?P<op>[^/]+)/(?:.*/)?(?P<name>torch_bind(?:ing)?\w*/.+|torch_bind_\w+\.cpp)$"
)


def binding_in_wrong_place(context: Context) -> Iterator[Hit]:
    """A binding below an operator's folder instead of the shared one."""
    match = _OWN.search(context.file.path)
    classes = binding_classes(context.file)
    if match is not None and classes:
        yield Hit(classes[0].start, classes[0].end, args={"operator": match["op"]})
