"""SHMEM names: internal ones, deprecated ones, ones that do not exist."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opdev.api import table
from opdev.design.document import document_of
from opdev.rules.context import Context
from opdev.rules.model import Edit, Fix, Hit, Related
from opdev.syntax import cpp
from opdev.syntax.file import File
from opdev.syntax.tree import ancestor

_WORD_REST = re.compile(rb"\w+")
_INTERNAL_FIX = {"barrier_core": "AscendC::SyncAll<true>()", "barrier_core_soft": "AscendC::SyncAll<true>()",
                 "control_barrier_all": "aclshmem_barrier_all()"}  # fmt: skip
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"](?P<path>[^>"\n]+)[>"][^\n]*\n?', re.MULTILINE)
_LIBRARY_AREAS = ("src/", "include/", "tests/")


def in_library(file: File) -> bool:
    """Whether a file is SHMEM's own code, which may use what it does not export."""
    place = file.place
    return place.shmem_repo is not None and place.operator is None and place.relative.startswith(_LIBRARY_AREAS)


def internal_api(context: Context) -> Iterator[Hit]:
    """A call of an ``aclshmemi_*`` function outside the library."""
    if in_library(context.file) or (context.file.region is not None and context.place.operator is None):
        return
    for call in _internal_calls(context):
        stem = call.name.partition("shmemi_")[2]
        if stem == "sync_bit":
            continue
        public, fix = _INTERNAL_FIX.get(stem), None
        if public is not None and not call.args:
            fix = Fix((Edit(call.start, call.end, public),))
        args = {"name": call.name, "public": public or ""}
        start, end = call.name_node.start_byte, call.name_node.end_byte
        row = _gap_row(context, call.name)
        if row is not None:
            # Known, planned for, and on record: nothing to change now.
            yield Hit(start, end, "planned", args, None, "info", (row,))
            continue
        key = "public" if public else "default"
        yield Hit(start, end, message=key, args=args, fix=fix)


def _gap_row(context: Context, name: str) -> Related | None:
    """The row of the design's gap table that names a symbol as one to be built anew."""
    files = context.project.files("design-doc") if context.project is not None else ()
    whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    for file in files:
        for listed in document_of(file).tables if name.encode() in file.words else ():
            for row in listed.rows:
                cells = [cell for cell in row if whole.search(cell.text)]
                if cells and any("需新实现" in cell.text for cell in row):
                    words = {"zh": "能力缺口表里登记了它", "en": "the gap table has it on record"}
                    return Related(cells[0].start, cells[0].end, words, file.path)
    return None


def _internal_calls(context: Context) -> Iterator[cpp.Call]:
    """Calls of ``aclshmemi_*`` and ``shmemi_*`` (by search: a keystroke waits for this)."""
    code = context.code
    at = code.find(b"shmemi_", context.start, context.end)
    while at >= 0:
        end = _WORD_REST.match(code, at).end()  # type: ignore[union-attr]  # it starts with a word
        start = at - 3 if code[at - 3 : at] == b"acl" else at
        call = cpp.call_at(context.file, start, end)
        if call is not None:
            yield call
        at = code.find(b"shmemi_", end, context.end)


def _may_include_internals(text: bytes) -> bool:
    return b"include" in text and (b"shmemi_" in text or b"src/" in text)


def internal_header(context: Context) -> Iterator[Hit]:
    """An include of a ``shmemi_*`` header, or of a file of SHMEM's ``src`` tree."""
    if not context.holds(_may_include_internals) or in_library(context.file):
        return
    text = context.nocomment
    at = text.find(b"include", context.start, context.end)
    while at >= 0:
        match = _INCLUDE.match(text, text.rfind(b"\n", 0, at) + 1)
        at = text.find(b"include", at + 7, context.end)
        if match is None:
            continue
        path = match["path"].decode("utf-8", "replace")
        base = path.rpartition("/")[2]
        if base == "shmemi_prof.h":
            continue
        if base.startswith("shmemi_") or re.match(
            r"(?:\.\./)*(?:shmem/)?src/(?:device|host|host_device|device_simt)/", path
        ):
            fix = Fix((Edit(match.start(), match.end(), ""),))
            yield Hit(match.start("path"), match.end("path"), args={"name": path}, fix=fix)


_BARRIERS = {
    "aclshmemx_barrier_all_vec": "aclshmem_barrier_all", "aclshmemx_barrier_vec": "aclshmem_barrier",
    "shmemx_barrier_all_vec": "aclshmem_barrier_all", "shmemx_barrier_vec": "aclshmem_barrier",
}  # fmt: skip
_VECTOR_ONLY = re.compile(rb"core_ratio\s*\(\s*0\s*,\s*1\s*\)|ACLSHMEM_GLOBAL_VECTOR|__vector__|KERNEL_TYPE_AIV_ONLY")


def vector_only(function_head: bytes, body: bytes = b"") -> bool:
    """Whether a kernel entry is compiled for vector cores alone."""
    return _VECTOR_ONLY.search(function_head) is not None or b"KERNEL_TYPE_AIV_ONLY" in body


def deprecated_barrier(context: Context) -> Iterator[Hit]:
    """``aclshmemx_barrier_all_vec`` and ``aclshmemx_barrier_vec``."""
    found = cpp.calls(context, *_BARRIERS)
    if not found or in_library(context.file):
        return
    entries = [f for f in cpp.functions(context) if cpp.is_kernel_entry(context.file, f)]
    # In a MIX kernel the new call makes the cube cores take part: nothing to change unasked.
    plain = bool(entries) and all(vector_only(cpp.head(context.file, f)) for f in entries)
    for call in found:
        new = _BARRIERS[call.name]
        node = call.name_node
        fix = Fix((Edit(node.start_byte, node.end_byte, new),), applicability="safe" if plain else "suggestion")
        key = "default" if plain else "mix"
        yield Hit(node.start_byte, node.end_byte, message=key, args={"name": call.name, "new": new}, fix=fix)


_DEPRECATED = {
    "ALIGH_TO": "ALIGN_TO",
    "ACLSHMEMI_SYNCBIT_SIZE": "ACLSHMEM_SYNCBIT_SIZE",
    "ACLSHMEM_EXTRA_SIZE_UNALIGHED": "ACLSHMEM_EXTRA_SIZE_UNALIGNED",
    "aclshmemi_sync_bit": "aclshmemx_sync_bit",
}
_CONFIG_TYPES = ("aclshmem_mte_config_t", "aclshmem_sdma_config_t", "aclshmem_rdma_config_t")
_DECLARES = re.compile(rb"(?:#[ \t]*define[ \t]+|\btypedef\b[^;\n]*|\busing[ \t]+)$")


def deprecated_name(context: Context) -> Iterator[Hit]:
    """Deprecated macros and types, and the profiling print without arguments."""
    if in_library(context.file):
        return
    for old, new in _DEPRECATED.items():
        for at in context.find(old):
            if not _declared_here(context.file, at):
                fix = Fix((Edit(at, at + len(old), new),))
                yield Hit(at, at + len(old), args={"name": old, "new": new}, fix=fix)
    for old in _CONFIG_TYPES:
        for at in context.find(old):
            if not _declared_here(context.file, at):
                new = "aclshmem_ub_config_t"
                fix = Fix((Edit(at, at + len(old), new),))
                yield Hit(at, at + len(old), args={"name": old, "new": new}, fix=fix, severity="hint")
    for call in cpp.calls(context, "aclshmemx_show_prof"):
        new = "aclshmemx_get_prof(nullptr, true)"
        whole = None if call.args else Fix((Edit(call.start, call.end, new),))
        start, end = call.name_node.start_byte, call.name_node.end_byte
        yield Hit(start, end, message="prof", args={"name": call.name, "new": new}, fix=whole)


def _declared_here(file: File, at: int) -> bool:
    line = file.code.rfind(b"\n", 0, at) + 1
    return _DECLARES.search(file.code[line:at]) is not None


_BROKEN = {"shmem_put_double_mem_signal": "aclshmem_double_put_signal"}


def broken_alias(context: Context) -> Iterator[Hit]:
    """Old spellings whose definition does not lead anywhere."""
    for old, new in _BROKEN.items():
        for at in context.find(old):
            if not _declared_here(context.file, at):
                fix = Fix((Edit(at, at + len(old), new),))
                yield Hit(at, at + len(old), args={"name": old, "new": new}, fix=fix)
    for old in ("shmem_putmem_signal", "shmem_putmem_signal_nbi"):
        for call in cpp.calls(context, old):
            if cpp.is_device(context.file, call.function):
                node, new = call.name_node, "acl" + old
                fix = Fix((Edit(node.start_byte, node.end_byte, new),))
                yield Hit(node.start_byte, node.end_byte, message="host", args={"name": old, "new": new}, fix=fix)


_NAME = re.compile(rb"aclshmemx?_\w+")
_DECLARED = re.compile(
    rb"#[ \t]*define[ \t]+(aclshmemx?_\w+)"
    rb"|\b(?:struct|class|enum|union|namespace|using|concept)\s+(?:class\s+)?(aclshmemx?_\w+)"
    rb"|(?P<before>[\w>\]\)}]+)(?:\s*[*&]+\s*|\s+)(aclshmemx?_\w+)\s*(?:[=;,\[{):]|\()"
)
_PASTE = re.compile(rb"\b(aclshmemx?_\w*?)[ \t]*##")
_NOT_TYPES = {b"return", b"else", b"case", b"co_return", b"throw", b"do", b"goto", b"new", b"delete", b"sizeof", b")"}
# Families with a rule of their own say more than "unknown".
_TYPED_ATOMIC = re.compile(r"aclshmem_(?:u?int(?:8|16|32|64)|half|float|bfloat16|double|char)_atomic_\w+")


def declared_names(file: File) -> tuple[frozenset[bytes], tuple[bytes, ...]]:
    """``aclshmem*`` names a file declares itself, and beginnings its macros paste names from."""

    def collect() -> tuple[frozenset[bytes], tuple[bytes, ...]]:
        found: set[bytes] = set()
        for match in _DECLARED.finditer(file.code):
            before = match["before"]
            if before is not None and (before in _NOT_TYPES or before[-1:] == b")"):
                continue
            found.add(match[1] or match[2] or match[4])
        return frozenset(found), tuple(m[1] for m in _PASTE.finditer(file.code))

    return file.memo("api.declared", collect)


def unknown_symbol(context: Context) -> Iterator[Hit]:
    """A call or type ``aclshmem_*``/``aclshmemx_*`` that neither SHMEM nor the operator has."""
    if context.project is None or in_library(context.file):
        return
    suspects: dict[bytes, list[tuple[int, int]]] = {}
    for match in _NAME.finditer(context.code):
        word = match.group()
        if word not in suspects and (table.lookup(word.decode()) is not None or word.endswith(b"_")):
            continue
        suspects.setdefault(word, []).append(match.span())
    if not suspects:
        return
    for file in (context.file, *context.project.files("cpp")):
        names, beginnings = declared_names(file)
        for word in list(suspects):
            if word in names or any(word.startswith(b) for b in beginnings):
                del suspects[word]
    for word, spans in suspects.items():
        name = word.decode()
        if _TYPED_ATOMIC.fullmatch(name):
            continue
        for start, end in spans:
            if not _is_use(context.file, start, end):
                continue
            guess = table.nearest(name)
            if guess is None:
                yield Hit(start, end, message="default", args={"name": name}, severity="warning")
            else:
                fix = Fix((Edit(start, end, guess),))
                yield Hit(start, end, message="near", args={"name": name, "guess": guess}, fix=fix)


def _is_use(file: File, start: int, end: int) -> bool:
    """Whether the word stands where a function is called or a type is named."""
    node = file.root.named_descendant_for_byte_range(start, end - 1)
    if node is None or node.start_byte != start:
        return False
    if node.type == "type_identifier":
        return ancestor(node, "ERROR") is None
    call = cpp.call_at(file, start, end)
    # A method or another library's function of that name is not SHMEM's.
    return call is not None and call.namespace in ("", "simt") and "." not in call.callee and "->" not in call.callee
