"""Code actions: mend a finding, mend all of its kind, mend the file, or say that it is meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from opdev.lsp import suppressing
from opdev.lsp.capabilities import FIX_ALL, resolves_edits
from opdev.lsp.documents import Document, offsets, typed_range
from opdev.lsp.fixall import fix_all
from opdev.rules.fixes import choose
from opdev.rules.model import Edit, Finding
from opdev.source import Source

if TYPE_CHECKING:
    from opdev.lsp.session import Session, Shown

_TITLES = {
    "all": {"zh": "修复本文件中全部 {n} 处 {name}", "en": "Fix all {n} {name} in this file"},
    "line": {"zh": "在本行忽略 {name}", "en": "Ignore {name} on this line"},
    "file": {"zh": "在本文件忽略 {name}", "en": "Ignore {name} in this file"},
    "fix-all": {"zh": "修复 opdev 能安全修复的全部问题", "en": "Fix everything opdev can fix safely"},
}
_MOST_SUPPRESSIONS = 5


def actions(
    session: Session, document: Document, shown: Shown, params: types.CodeActionParams
) -> list[types.CodeAction]:
    """What can be done about the findings in a range."""
    source = shown.report.file.source if shown.report.file is not None else None
    if source is None or source is not document.source:
        # The document moved on; the client asks again.
        return []
    wanted = _wanted(params.context.only)
    made: list[types.CodeAction] = []
    if wanted("quickfix"):
        here = _in_range(shown.report.findings, source, params.range, session)
        made += _fixes(session, document, shown, here)
        made += _all_of_rule(session, document, shown, here)
        made += _suppressions(session, document, shown, here)
    # Asked for without a kind, an editor lists what is about the range; fix-all is about the file.
    if params.context.only and wanted(FIX_ALL) and any(_safe(f) for f in shown.report.findings):
        action = types.CodeAction(_TITLES["fix-all"][shown.lang], FIX_ALL, data={"uri": document.uri})
        made.append(action if resolves_edits(session.client) else resolve(session, action))
    return made


def resolve(session: Session, action: types.CodeAction) -> types.CodeAction:
    """The edit of an action whose edit was left for later."""
    data: Any = action.data
    document = session.documents.find(str(data.get("uri", ""))) if isinstance(data, dict) else None
    if document is None or action.kind != FIX_ALL:
        return action
    source = document.source
    edits = list(fix_all(session, document, source))
    action.edit = _workspace_edit(session, document, source, edits)
    return action


def _wanted(only: Sequence[types.CodeActionKind | str] | None) -> Any:
    kinds = [str(getattr(kind, "value", kind)) for kind in only or ()]

    def wanted(kind: str) -> bool:
        return not kinds or any(kind == k or kind.startswith(k + ".") or k == "" for k in kinds)

    return wanted


def _in_range(findings: Iterable[Finding], source: Source, where: types.Range, session: Session) -> list[Finding]:
    start, end = offsets(source, where, session.client.unit)
    touching = [f for f in findings if f.start <= end and f.end >= start]
    if touching:
        return touching
    # A bare cursor on the line of a finding is as good as one on the finding.
    line = source.line_of(start)
    return [f for f in findings if start == end and source.line_of(f.start) == line]


def _safe(finding: Finding) -> bool:
    return (
        finding.applicability == "safe" and finding.fix is not None and all(e.path is None for e in finding.fix.edits)
    )


def _diagnostic(finding: Finding, shown: Shown, session: Session) -> types.Diagnostic:
    return types.Diagnostic(
        typed_range(finding.source, finding.start, finding.end, session.client.unit),
        finding.message(shown.lang),
        severity=types.DiagnosticSeverity({"error": 1, "warning": 2, "info": 3, "hint": 4}[finding.severity]),
        code=finding.rule.name,
        source="opdev",
    )


def _fixes(session: Session, document: Document, shown: Shown, here: list[Finding]) -> Iterator[types.CodeAction]:
    for finding in here:
        if finding.fix is None:
            continue
        edit = _workspace_edit(session, document, finding.source, finding.fix.edits)
        if edit is None:
            continue
        yield types.CodeAction(
            finding.fix_title(shown.lang),
            types.CodeActionKind.QuickFix,
            [_diagnostic(finding, shown, session)],
            is_preferred=True if finding.applicability == "safe" else None,
            edit=edit,
        )


def _all_of_rule(session: Session, document: Document, shown: Shown, here: list[Finding]) -> Iterator[types.CodeAction]:
    for name in dict.fromkeys(f.rule.name for f in here if _safe(f)):
        every = choose([f for f in shown.report.findings if f.rule.name == name and _safe(f)])
        if len(every) < 2:
            continue
        edits = [edit for f in every if f.fix is not None for edit in f.fix.edits]
        mended = [_diagnostic(f, shown, session) for f in here if f.rule.name == name]
        yield types.CodeAction(
            _TITLES["all"][shown.lang].format(n=len(every), name=name),
            types.CodeActionKind.QuickFix,
            mended,
            edit=_workspace_edit(session, document, every[0].source, edits),
        )


def _suppressions(
    session: Session, document: Document, shown: Shown, here: list[Finding]
) -> Iterator[types.CodeAction]:
    file = shown.report.file
    if file is None:
        return
    seen: set[str] = set()
    for finding in here:
        name = finding.rule.name
        if name in seen or not finding.rule.page or len(seen) >= _MOST_SUPPRESSIONS:
            continue
        seen.add(name)
        for title, edit in (
            ("line", suppressing.on_line(file, finding)),
            ("file", suppressing.in_file(file, finding.rule)),
        ):
            if edit is not None:
                yield types.CodeAction(
                    _TITLES[title][shown.lang].format(name=name),
                    types.CodeActionKind.QuickFix,
                    [_diagnostic(finding, shown, session)],
                    edit=_workspace_edit(session, document, file.source, [edit]),
                )


def _workspace_edit(
    session: Session, document: Document, source: Source, edits: Iterable[Edit]
) -> types.WorkspaceEdit | None:
    """The edits as the client takes them; None if a file they are for cannot be read."""
    by_path: dict[str | None, list[types.TextEdit]] = {}
    for edit in edits:
        target = source if edit.path is None else session.source_of(edit.path)
        if target is None:
            return None
        where = typed_range(target, edit.start, edit.end, session.client.unit)
        text = edit.text.replace("\r\n", "\n").replace("\n", target.newline)
        by_path.setdefault(edit.path, []).append(types.TextEdit(where, text))
    if not session.client.can("workspace.workspaceEdit.documentChanges"):
        return types.WorkspaceEdit({_uri(session, document, path): listed for path, listed in by_path.items()})
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(
                    _uri(session, document, path), _version(session, document, path)
                ),
                listed,
            )
            for path, listed in by_path.items()
        ]
    )


def _uri(session: Session, document: Document, path: str | None) -> str:
    return document.uri if path is None else session.uri_of(path)


def _version(session: Session, document: Document, path: str | None) -> int | None:
    if path is None:
        return document.version
    other = session.documents.at_path(path)
    return other.version if other is not None else None
