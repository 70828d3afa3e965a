"""Document symbols: functions, types and sections, as an outline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types

from opdev.design.document import document_of
from opdev.design.outline import Entry, outline
from opdev.lsp.designs import is_design
from opdev.lsp.documents import typed_range
from opdev.source import Source, Unit
from opdev.syntax.fences import fences, line_end
from opdev.syntax.file import File

if TYPE_CHECKING:
    from tree_sitter import Node

    from opdev.lsp.documents import Document
    from opdev.lsp.session import Session

_KINDS = {
    "function_definition": types.SymbolKind.Function,
    "class_definition": types.SymbolKind.Class,
    "class_specifier": types.SymbolKind.Class,
    "struct_specifier": types.SymbolKind.Struct,
    "enum_specifier": types.SymbolKind.Enum,
    "namespace_definition": types.SymbolKind.Namespace,
    "function_def": types.SymbolKind.Function,
    "macro_def": types.SymbolKind.Function,
    "preproc_function_def": types.SymbolKind.Constant,
}
_DEEPER = {"namespace_definition", "class_definition", "class_specifier", "struct_specifier", "function_definition"}
_HEADING = re.compile(rb"^(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*\r?$", re.M)


def symbols(
    session: Session, document: Document, file: File, _params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
    """The outline of a document; flat for clients that know no tree."""
    unit = session.client.unit
    if file.language == "markdown":
        found = sections(file.source, unit)
        if is_design(file):
            _put_below(found, [_entry(e, file.source, unit) for e in outline(document_of(file))])
    elif file.language in ("cpp", "python", "bash", "cmake"):
        found = list(_definitions(file, file.root, unit))
    else:
        found = []
    if session.client.can("textDocument.documentSymbol.hierarchicalDocumentSymbolSupport"):
        return found
    return list(_flat(found, document.uri, None))


def _definitions(file: File, top: Node, unit: Unit) -> Iterator[types.DocumentSymbol]:
    stack = list(reversed(top.named_children))
    while stack:
        node = stack.pop()
        kind = _KINDS.get(node.type)
        name = _name(file, node) if kind is not None else None
        if kind is None or name is None:
            stack.extend(reversed(node.named_children))
            continue
        inner = list(_definitions(file, node, unit)) if node.type in _DEEPER else []
        whole = typed_range(file.source, node.start_byte, node.end_byte, unit)
        label = typed_range(file.source, name.start_byte, name.end_byte, unit)
        text = file.source.text(name.start_byte, name.end_byte).strip()
        if text:
            yield types.DocumentSymbol(text, kind, whole, label, children=inner)


def _name(file: File, node: Node) -> Node | None:
    named = node.child_by_field_name("name")
    if named is not None:
        return named if node.child_by_field_name("body") is not None or node.type == "preproc_function_def" else None
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.child_by_field_name("declarator") is not None:
        declarator = declarator.child_by_field_name("declarator")
    if declarator is not None:
        return declarator
    if node.type in ("function_def", "macro_def"):
        # CMake: function(name args…)
        found = re.match(rb"\w+\s*\(\s*", file.data[node.start_byte : node.end_byte])
        if found:
            at = node.start_byte + found.end()
            return file.root.named_descendant_for_byte_range(at, at + 1)
    return None


def sections(source: Source, unit: Unit) -> list[types.DocumentSymbol]:
    """Markdown headings, each down to the next of its level."""
    heads = list(headings(source.data))
    top: list[types.DocumentSymbol] = []
    path: list[tuple[int, list[types.DocumentSymbol]]] = [(0, top)]
    for index, (level, start, name_start, name_end) in enumerate(heads):
        end = next((h[1] for h in heads[index + 1 :] if h[0] <= level), len(source.data))
        inner: list[types.DocumentSymbol] = []
        symbol = types.DocumentSymbol(
            source.text(name_start, name_end),
            types.SymbolKind.String,
            typed_range(source, start, end, unit),
            typed_range(source, name_start, name_end, unit),
            children=inner,
        )
        while path[-1][0] >= level:
            path.pop()
        path[-1][1].append(symbol)
        path.append((level, inner))
    return top


_ENTRIES = {
    "section": types.SymbolKind.Module,
    "key": types.SymbolKind.Property,
    "item": types.SymbolKind.Object,
}


def _entry(entry: Entry, source: Source, unit: Unit) -> types.DocumentSymbol:
    """A part of the DSL."""
    return types.DocumentSymbol(
        entry.name,
        _ENTRIES[entry.kind],
        typed_range(source, entry.start, entry.end, unit),
        typed_range(source, entry.name_start, entry.name_end, unit),
        detail=entry.detail or None,
        children=[_entry(child, source, unit) for child in entry.children],
    )


def _put_below(found: list[types.DocumentSymbol], entries: list[types.DocumentSymbol]) -> None:
    """The DSL belongs to the innermost heading it stands under; to none it stands by itself."""
    if not entries:
        return
    line = entries[0].range.start.line
    into = found
    while inner := next((s for s in into if s.range.start.line <= line <= s.range.end.line), None):
        into = inner.children if isinstance(inner.children, list) else []
    into[:0] = entries


def headings(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """(level, start of line, start and end of the text) of each heading outside fences."""
    spans = list(fenced(data))
    for match in _HEADING.finditer(data):
        if not any(start < match.start() < end for start, end in spans):
            yield len(match[1]), match.start(), match.start(2), match.end(2)


def fenced(data: bytes) -> Iterator[tuple[int, int]]:
    """Byte ranges of fenced blocks, the lines of the fence included; an open one reaches to the end."""
    for fence in fences(data):
        open_ = fence.stop == fence.after
        # One that its quotation ends stops with the line before.
        end = line_end(data, fence.stop if not open_ or fence.stop == len(data) else fence.stop - 1)
        yield fence.line, end


def _flat(found: list[types.DocumentSymbol], uri: str, parent: str | None) -> Iterator[types.SymbolInformation]:
    for symbol in found:
        yield types.SymbolInformation(
            types.Location(uri, symbol.range), symbol.name, symbol.kind, container_name=parent
        )
        yield from _flat(list(symbol.children or ()), uri, symbol.name)
