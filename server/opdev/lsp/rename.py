"""Renaming an operator from its design: all files, the files' own names and the folder, as one edit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from opdev.facts.names import sites_in
from opdev.facts.renaming import RenameError, Renaming, current_name, renaming
from opdev.lsp.designs import is_design, operator_of
from opdev.lsp.documents import typed_range

if TYPE_CHECKING:
    from opdev.lsp.client import Lang
    from opdev.lsp.documents import Document
    from opdev.lsp.session import Session
    from opdev.syntax.file import File

_REQUEST_FAILED = -32803
_ELSEWHERE = {
    "zh": "这里不是算子名：把光标放在 design.md 的 op_name 上改名",
    "en": "this is not the operator's name: rename it at op_name in design.md",
}
_BY_HAND = {
    "zh": "文字已改，这些编辑器移动不了，请自行移动：{moves}",
    "en": "The text was renamed; what this editor cannot move is yours to move: {moves}",
}
_KEPT = {
    "zh": "有 {n} 处 {old} 没有改，因为看不出它指的是这个算子：{places}",
    "en": "{n} places with {old} were left as they are, since nothing shows that the operator is meant: {places}",
}
_MOST_KEPT = 5


def prepare(
    session: Session, document: Document, file: File, params: types.PrepareRenameParams
) -> types.PrepareRenamePlaceholder | None:
    """The operator's name where the cursor is on it in the design; None elsewhere."""
    operator = operator_of(session, file) if is_design(file) else None
    if operator is None:
        return None
    offset = file.source.offset(params.position.line, params.position.character, session.client.unit)
    lang = _lang(session, document)
    try:
        name = current_name(operator)
    except RenameError as error:
        raise JsonRpcException(error.text[lang], _REQUEST_FAILED) from error
    for site in sites_in(file, name):
        if site.start <= offset <= site.end:
            where = typed_range(file.source, site.start, site.end, session.client.unit)
            return types.PrepareRenamePlaceholder(where, name)
    return None


def rename(session: Session, document: Document, file: File, params: types.RenameParams) -> types.WorkspaceEdit | None:
    """The edit that gives the operator its new name; an error in the user's language where it cannot have it."""
    lang = _lang(session, document)
    operator = operator_of(session, file) if is_design(file) else None
    offset = file.source.offset(params.position.line, params.position.character, session.client.unit)
    try:
        name = current_name(operator) if operator is not None else ""
        if operator is None or not any(s.start <= offset <= s.end for s in sites_in(file, name)):
            raise JsonRpcException(_ELSEWHERE[lang], _REQUEST_FAILED)
        plan = renaming(operator, params.new_name.strip(), lambda path: _taken(session, path))
    except RenameError as error:
        raise JsonRpcException(error.text[lang], _REQUEST_FAILED) from error
    return _edit(session, plan, lang)


def _edit(session: Session, plan: Renaming, lang: Lang) -> types.WorkspaceEdit:
    unit = session.client.unit
    by_path: dict[str, list[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit]] = {}
    for change in plan.changes:
        where = typed_range(change.file.source, change.start, change.end, unit)
        by_path.setdefault(change.file.path, []).append(types.TextEdit(where, change.text))
    moves = session.client.can("workspace.workspaceEdit.documentChanges") and session.client.lists(
        "workspace.workspaceEdit.resourceOperations", "rename"
    )
    moved = plan.moves if moves else ()
    if moved and not session.client.moves_folders:
        moved = tuple((old, new) for old, new in moved if old != plan.folder)
    by_hand = [f"{old} → {new.rpartition('/')[2]}" for old, new in plan.moves if (old, new) not in moved]
    if by_hand:
        message = {"type": 3, "message": _BY_HAND[lang].format(moves=", ".join(by_hand))}
        session.on_loop(session.notify, "window/showMessage", message)
    if plan.kept:
        message = {"type": 3, "message": _kept(plan, lang)}
        session.on_loop(session.notify, "window/showMessage", message)
    if not session.client.can("workspace.workspaceEdit.documentChanges"):
        changes = {
            session.uri_of(p): [e for e in edits if isinstance(e, types.TextEdit)] for p, edits in by_path.items()
        }
        return types.WorkspaceEdit(changes)
    steps: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = []
    for path, edits in by_path.items():
        open_one = session.documents.at_path(path)
        version = open_one.version if open_one is not None else None
        steps.append(
            types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(session.uri_of(path), version), edits)
        )
    # The folder comes last: until then everything is where it was.
    options = types.RenameFileOptions(overwrite=False, ignore_if_exists=False)
    for old, new in moved:
        steps.append(types.RenameFile(session.uri_of(old), _beside(session.uri_of(old), old, new), options=options))
    return types.WorkspaceEdit(document_changes=steps)


def _kept(plan: Renaming, lang: Lang) -> str:
    """What keeps the old name, for the user to look at."""
    files = list(dict.fromkeys(site.path.rpartition("/")[2] for site in plan.kept))
    named = ", ".join(files[:_MOST_KEPT]) + (" …" if len(files) > _MOST_KEPT else "")
    return _KEPT[lang].format(n=len(plan.kept), old=plan.old, places=named)


def _beside(uri: str, old: str, new: str) -> str:
    """The URI of a path beside another, in the client's spelling of that one."""
    from opdev.lsp.uris import to_uri

    tail = to_uri(old).rpartition("/")[2]
    return uri[: -len(tail)] + to_uri(new).rpartition("/")[2] if uri.endswith(tail) else to_uri(new)


def _taken(session: Session, path: str) -> bool:
    """Whether a path exists, on disk or as something open in the editor."""
    return os.path.lexists(path) or any(
        d.path == path or d.path.startswith(path + "/") for d in list(session.documents.open.values())
    )


def _lang(session: Session, document: Document) -> Lang:
    return session.lang_of(session.rulebook.of(document.path).lang)
