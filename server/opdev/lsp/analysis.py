"""Linting open documents: each keystroke a definition, the operator in the background.

Everything here runs on the worker's thread.  A document's own findings go out at once, with the
cross-file ones of last time moved to where the edit left them; the new cross-file ones follow.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace

from opdev.kinds import Place
from opdev.lsp.documents import Document
from opdev.lsp.moving import changed, moved
from opdev.lsp.operators import Operators
from opdev.lsp.rulebook import Rulebook, Verdict
from opdev.lsp.worker import Stop
from opdev.project.operators import kind_of
from opdev.project.places import Places
from opdev.rules.engine import BUILTIN, INTERNAL_ERROR
from opdev.rules.model import Finding, Scope
from opdev.rules.selection import Selection
from opdev.source import Source
from opdev.syntax.file import File

log = logging.getLogger("opdev.lsp")

OWN: tuple[Scope, ...] = ("item", "file")
CROSS: tuple[Scope, ...] = ("project",)
"""Of a file in no operator, too: some of these rules have something to say of it alone (``Rule.alone``)."""
UNUSED = "unused-suppression"


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of one version of a document.  ``version`` was captured before linting began."""

    version: int
    file: File | None
    findings: tuple[Finding, ...]
    lang: str
    whole: bool
    """Whether cross-file rules have seen this version."""


@dataclass
class Analysis:
    """What is kept of an open document between two edits."""

    file: File | None = None
    version: int = -1
    own: tuple[Finding, ...] = ()
    cross: tuple[Finding, ...] = ()
    stuck: dict[str, Finding] = field(default_factory=dict)
    """Rules that took too long on this document, by name: not run on it again."""


class Analyst:
    """Lints documents and files under the rulebook it is given."""

    def __init__(self, rulebook: Rulebook, places: Places, operators: Operators) -> None:
        self.rulebook = rulebook
        self.places = places
        self.operators = operators
        self._open: dict[str, Analysis] = {}
        self._reduced: dict[tuple[int, frozenset[str]], tuple[Selection, Selection]] = {}

    def reload(self, rulebook: Rulebook) -> None:
        """Configuration or rules changed: nothing found so far counts."""
        self.rulebook = rulebook
        self._reduced.clear()
        for analysis in self._open.values():
            analysis.own = analysis.cross = ()
            analysis.stuck.clear()
            analysis.file = None

    def forget(self, key: str) -> None:
        """A document was closed."""
        self._open.pop(key, None)

    def place(self, path: str, verdict: Verdict) -> Place:
        """Where a path stands, by the profile its configuration asks for."""
        place = self.places.of(path)
        return replace(place, profile=verdict.profile) if verdict.profile != "auto" else place

    def own(self, document: Document, stop: Stop) -> Report:
        """The document's own findings, and the cross-file ones as far as known."""
        version, source = document.version, document.source
        analysis = self._open.setdefault(document.key, Analysis())
        verdict = self.rulebook.of(document.path)
        before = analysis.file
        file = self._parse(analysis, document, source, version, verdict)
        if before is not None and before.source is not file.source:
            analysis.cross = tuple(moved(analysis.cross, before.source, file.source))
        if verdict.excluded or not file.kind:
            analysis.own = analysis.cross = ()
            return Report(version, file, (), verdict.lang, whole=True)
        analysis.own = self._run(analysis, file, verdict, OWN, stop)
        # In no operator there is nothing to read first; a keystroke does not wait for it all the same.
        whole = before is None and file.place.root is None
        if whole:
            analysis.cross = self._run(analysis, file, verdict, CROSS, stop)
        return self._report(analysis, verdict, whole=whole)

    def unsettled(self, document: Document) -> bool:
        """Whether a parse from scratch could read the text differently: edits around errors are guesses."""
        file = self.file_of(document)
        return file is not None and "tree" in file.__dict__ and file.root.has_error

    def settle(self, document: Document, stop: Stop) -> Report | None:
        """Parse and lint from scratch; None where that finds what was found."""
        analysis = self._open.get(document.key)
        file = self.file_of(document)
        if analysis is None or file is None:
            return None
        verdict = self.rulebook.of(document.path)
        fresh = File(file.source, file.kind, file.place)
        found = self._run(analysis, fresh, verdict, OWN, stop, incremental=False)
        cross = analysis.cross
        if fresh.place.root is None:
            cross = self._run(analysis, fresh, verdict, CROSS, stop)
        analysis.file = fresh
        if _said(found, cross) == _said(analysis.own, analysis.cross):
            return None
        analysis.own, analysis.cross = found, cross
        return self._report(analysis, verdict, whole=fresh.place.root is None)

    def cross(self, document: Document, stop: Stop) -> Report | None:
        """The document's findings with the cross-file ones of now; None if it must be linted first."""
        analysis = self._open.get(document.key)
        file = analysis.file if analysis is not None else None
        if analysis is None or file is None or file.source is not document.source:
            return None
        verdict = self.rulebook.of(document.path)
        if verdict.excluded or not file.kind:
            return self._report(analysis, verdict, whole=True)
        if file.place.root is None:
            analysis.cross = self._run(analysis, file, verdict, CROSS, stop)
            return self._report(analysis, verdict, whole=True)
        kind = kind_of(file.path, file.data, in_operator=True)
        if kind != file.kind:
            # An edit made it another kind of file: all of its rules have to look again.
            analysis.file = File(file.source, kind, file.place)
            analysis.own = self._run(analysis, analysis.file, verdict, OWN, stop) if kind else ()
            file = analysis.file
        analysis.cross = self._run(analysis, file, verdict, CROSS, stop) if kind else ()
        return self._report(analysis, verdict, whole=True)

    def rekind(self, document: Document) -> bool:
        """Whether an edit outside any operator made the document another kind of file."""
        analysis = self._open.get(document.key)
        file = analysis.file if analysis is not None else None
        if analysis is None or file is None or file.source is not document.source or file.place.root is not None:
            return False
        if kind_of(file.path, file.data, in_operator=file.place.operator is not None) == file.kind:
            return False
        analysis.file = None
        return True

    def unopened(self, path: str, raw: bytes, stop: Stop) -> tuple[File | None, tuple[Finding, ...], str]:
        """(file, findings, language) of a file nobody has open, with all rules."""
        verdict = self.rulebook.of(path)
        if verdict.excluded:
            return None, (), verdict.lang
        source = Source.from_disk(path, raw)
        place = self.place(path, verdict)
        kind = kind_of(path, source.data, in_operator=place.operator is not None)
        if not kind:
            return None, (), verdict.lang
        file = File(source, kind, place)
        project = self.operators.of(place.root) if place.root is not None else None
        result = verdict.linter.lint(file, verdict.selection, project, cancelled=stop)
        return file, tuple(result.findings), verdict.lang

    def sibling(self, file: File, stop: Stop) -> tuple[tuple[Finding, ...], str]:
        """(findings, language) of an operator's unopened file: its own of before, the cross-file ones of now."""
        verdict = self.rulebook.of(file.path)
        root = file.place.root
        if verdict.excluded or root is None:
            return (), verdict.lang
        selection = verdict.selection
        if verdict.profile not in ("auto", file.place.profile):
            file = File(file.source, file.kind, self.place(file.path, verdict))
        # The selection is kept with them, so that its identity stays its own.
        found, _ = file.memo(
            ("own-findings", id(selection)),
            lambda: (tuple(verdict.linter.lint(file, selection, scopes=OWN, cancelled=stop).findings), selection),
        )
        cross = verdict.linter.lint(
            file, selection, self.operators.of(root), scopes=("project",), cancelled=stop
        ).findings
        kept = [finding for finding in cross if not _said_already(finding)]
        return tuple(sorted((*found, *kept), key=lambda f: f.sort_key)), verdict.lang

    def file_of(self, document: Document) -> File | None:
        """The parsed file of an open document, if it is of the newest version."""
        analysis = self._open.get(document.key)
        file = analysis.file if analysis is not None else None
        return file if file is not None and file.source is document.source else None

    def _parse(self, analysis: Analysis, document: Document, source: Source, version: int, verdict: Verdict) -> File:
        before = analysis.file
        if before is not None and before.source is source:
            return before
        if before is not None and before.kind:
            start, old_end, new_end = changed(before.data, source.data)
            file = before.edited(source, start, old_end, new_end)
        else:
            place = self.place(document.path, verdict) if document.local else Place()
            kind = kind_of(document.path, source.data, in_operator=place.operator is not None)
            file = File(source, kind, place)
        analysis.file, analysis.version = file, version
        return file

    def _run(
        self,
        analysis: Analysis,
        file: File,
        verdict: Verdict,
        scopes: tuple[Scope, ...],
        stop: Stop,
        *,
        incremental: bool = True,
    ) -> tuple[Finding, ...]:
        selection = self._without(verdict.selection, frozenset(analysis.stuck))
        own = scopes != CROSS
        project = None if own or file.place.root is None else self.operators.of(file.place.root)
        result = verdict.linter.lint(
            file, selection, project, scopes=scopes, incremental=own and incremental, cancelled=stop
        )
        kept = []
        for finding in result.findings:
            if finding.rule.name == INTERNAL_ERROR.name and finding.message_key == "timeout":
                name = str(finding.args.get("rule"))
                log.error("rule %s took too long on %s; it is not run on it again until rules reload", name, file.path)
                analysis.stuck[name] = finding
            elif own or not _said_already(finding):
                kept.append(finding)
        return tuple(kept)

    def _without(self, selection: Selection, stuck: frozenset[str]) -> Selection:
        if not stuck:
            return selection
        found = self._reduced.get((id(selection), stuck))
        if found is None:
            rest = selection.only(rule for rule in selection.rules if rule.name not in stuck)
            found = self._reduced[id(selection), stuck] = (rest, selection)
        return found[0]

    @staticmethod
    def _report(analysis: Analysis, verdict: Verdict, *, whole: bool) -> Report:
        file = analysis.file
        stuck = [replace(f, source=file.source) for f in analysis.stuck.values()] if file is not None else []
        findings = sorted((*analysis.own, *analysis.cross, *stuck), key=lambda f: f.sort_key)
        return Report(analysis.version, file, tuple(findings), verdict.lang, whole)


def _said(*found: tuple[Finding, ...]) -> list[object]:
    """What is compared to tell whether findings changed."""
    return [[(f.sort_key, f.fix) for f in some] for some in found]


def _said_already(finding: Finding) -> bool:
    """Whether the run of the document's own rules has said this: faults of the directives themselves."""
    if finding.rule.check != BUILTIN or finding.rule.name == INTERNAL_ERROR.name:
        return False
    return finding.rule.name != UNUSED
