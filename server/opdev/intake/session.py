"""One call of ``opdev intake``: who is asked, what is written, what is said of it.

With a terminal and no answers the form asks.  Otherwise all five answers have to be there, whoever calls.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TextIO

from opdev.config import Configs
from opdev.facts.intake_text import yaml_value
from opdev.intake import recording
from opdev.intake.answers import Given, read_answers, template
from opdev.intake.form import Form, LeftError
from opdev.intake.model import Probe, Remark, UsageError
from opdev.intake.probes import holder_of, probe, with_torch
from opdev.intake.questions import questions
from opdev.intake.recording import Existing, RecordError
from opdev.intake.resolving import Resolved, Setting, resolve
from opdev.intake.texts import say
from opdev.programs import engine_of
from opdev.rules.model import Lang

DONE, REFUSED, USAGE = 0, 1, 2
_FOLDERS = {"independent_project": "custom-ops", "in_tree_example": "examples"}


@dataclass
class Session:
    """``root`` is the operator's folder; empty where ``name`` makes a new one."""

    lang: Lang
    root: str
    name: str = ""
    form: str = "text"
    reconfirm: bool = False
    before: Existing = field(default_factory=lambda: Existing(""))

    def __post_init__(self) -> None:
        self.cwd = os.getcwd().replace("\\", "/")
        if not self.root and self.name:
            self.root = self._known_root(probe(self.cwd))
        if self.root:
            try:
                self.before = recording.existing(self.root)
            except OSError as error:
                raise self._unwritable(f"{self.root}/docs/phase0_intake.yaml", error) from error
        self.probe: Probe = probe(self.cwd, recorded=self.before.values, root=self.root)
        self.setting = Setting(
            name=self.name or self.root.rpartition("/")[2],
            around=self.root.rpartition("/")[0].rpartition("/")[2],
            engine=engine_of(Configs().for_folder(self.root or self.cwd).settings.run, os.environ),
            design=self._stated(),
        )

    @property
    def interactive(self) -> bool:
        """Whether there is somebody to ask."""
        return sys.stdin.isatty() and self.out.isatty()

    @property
    def out(self) -> TextIO:
        """Where the form stands: what a program reads is kept apart from it."""
        return sys.stderr if self.form == "json" else sys.stdout

    def ask(self, preset: Mapping[str, str]) -> int:
        """The form."""
        given = Given()
        for question, text in preset.items():
            given.take(question, text)
        if given.remarks:
            return self._refused(given.remarks, [])
        if self.before.damaged and not self.reconfirm:
            return self._failed(RecordError("damaged", path=self._shown(self.before.path), line=self.before.damaged))
        form = Form(
            self.lang, sys.stdin, self.out, self.probe, self.setting, given.words, self.before.values, with_torch
        )
        try:
            if self.before.complete and not self.reconfirm and form.still_right(self._shown(self.before.path)):
                self._tell("kept", Resolved(self.before.values), say("kept", self.lang, path=self._shown(self.before.path)))  # fmt: skip
                return DONE
            found = form.run()
        except LeftError:
            self.out.write(say("left", self.lang) + "\n")
            return REFUSED
        return self._write(found, told=True)

    def take(self, flags: Mapping[str, str], answers: tuple[str, bytes] | None) -> int:
        """All answers at once; options win over the file."""
        given = read_answers(*answers) if answers is not None else Given()
        for question, text in flags.items():
            given.remarks = [r for r in given.remarks if r.id != question]
            given.take(question, text)
        if given.remarks:
            return self._refused(given.remarks, given.missing)
        if given.missing:
            return self._lacking(given.missing)
        known = with_torch(self.probe) if given.words["torch"] == "yes" else self.probe
        found = resolve(given.words, known, self.setting)
        if found.problems:
            return self._refused(found.problems, [])
        if self.before.damaged and not self.reconfirm:
            return self._failed(RecordError("damaged", path=self._shown(self.before.path), line=self.before.damaged))
        changes = recording.differences(self.before, found.values)
        if changes and not self.reconfirm:
            head = say("need-reconfirm", self.lang, path=self._shown(self.before.path))
            self._tell(
                "needs-reconfirm", found, "\n".join([head, *self._changes(changes)]), changes=changes, error=True
            )
            return REFUSED
        return self._write(found)

    def _write(self, found: Resolved, *, told: bool = False) -> int:
        """Write the record.  ``told`` says that the user has just seen values and notes."""
        before = self.before
        if not self.root:
            self.root = self._new_root(found)
            before = Existing(f"{self.root}/docs/phase0_intake.yaml")
        changes = recording.differences(before, found.values)
        shown = self._shown(before.path)
        try:
            kept = recording.write(before, found.values, anew=self.reconfirm)
        except RecordError as error:
            return self._failed(RecordError(error.key, **{**error.values, "path": shown}))
        except OSError as error:
            raise self._unwritable(before.path, error) from error
        same = before.raw is not None and all(before.values.get(k) == v for k, v in found.values.items()) and not kept
        lines = [say("unchanged" if same else "written", self.lang, path=shown)]
        if kept:
            lines.append(say("kept-beside", self.lang, path=self._shown(kept)))
        if changes:
            lines += [say("changes", self.lang), *self._changes(changes)]
        lines += [f"  {key}: {value}" for key, value in self._record(found).items()] if not told else []
        lines += [f"  * {note.text(self.lang)}" for note in found.notes] if not told else []
        lines.append(say("next", self.lang, op=shlex.quote(self._shown(self.root))))
        self._tell("unchanged" if same else "recorded", found, "\n".join(lines), changes=changes, kept=kept)
        return DONE

    def _lacking(self, missing: list[str]) -> int:
        asked = questions(self.lang, self.probe, semantics=self.setting.design)
        text = [say("need-answers", self.lang, names=", ".join(missing))]
        if not self.interactive:
            text += [say("how", self.lang), "", template(self.lang, asked).rstrip("\n")]
        self._tell("needs-answers", None, "\n".join(text), missing=missing, asked=[q.as_json() for q in asked], error=True)  # fmt: skip
        return REFUSED

    def _refused(self, remarks: list[Remark], missing: list[str]) -> int:
        lines = [say("refused", self.lang), *(f"  {r.text(self.lang)}" for r in remarks)]
        told = {r.id for r in remarks}
        if rest := [m for m in missing if m not in told]:
            lines.append(f"  {say('need-answers', self.lang, names=', '.join(rest))}")
        self._tell("refused", None, "\n".join(lines), remarks=remarks, missing=missing, error=True)
        return REFUSED

    def _failed(self, error: RecordError) -> int:
        self._tell("not-written", None, say(error.key, self.lang, **error.values), error=True)
        return USAGE

    def _tell(
        self, state: str, found: Resolved | None, text: str, *, changes: list[tuple[str, str, str]] | None = None,
        missing: list[str] | None = None, remarks: list[Remark] | None = None, asked: list[dict[str, Any]] | None = None,
        kept: str = "", error: bool = False,
    ) -> None:  # fmt: skip
        """What came of it: text for people, or one JSON object."""
        if self.form != "json":
            (sys.stderr if error else sys.stdout).write(text + "\n")
            return
        value = {
            "state": state, "operator": self.setting.name, "root": self.root or None,
            "path": self.before.path or (f"{self.root}/docs/phase0_intake.yaml" if self.root else None),
            "record": found.values if found is not None and found.values else None,
            "notes": [n.as_json(self.lang) for n in (found.notes if found is not None else [])],
            "problems": [r.as_json(self.lang) for r in remarks or []], "missing": missing or [],
            "changes": [{"key": k, "old": old, "new": new} for k, old, new in changes or []],
            "kept": kept or None, "text": text, "questions": asked or [],
        }  # fmt: skip
        sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=1) + "\n")

    @staticmethod
    def _record(found: Resolved) -> dict[str, str]:
        return {key: yaml_value(value) for key, value in found.values.items()}

    @staticmethod
    def _changes(changes: list[tuple[str, str, str]]) -> list[str]:
        return [f"  {key}: {old} -> {new}" for key, old, new in changes]

    def _known_root(self, known: Probe) -> str:
        """The folder of an operator of that name that is there already."""
        base = known.shmem_repo or holder_of(self.cwd) or self.cwd
        return next((p for f in _FOLDERS.values() if os.path.isdir(p := f"{base}/{f}/{self.name}")), "")

    def _new_root(self, found: Resolved) -> str:
        repo = str(found.values["shmem_repo"])
        base = next(
            (p for p in (repo, self.probe.shmem_repo, holder_of(self.cwd)) if p.startswith("/") and os.path.isdir(p)),
            self.cwd,
        )
        return f"{base.rstrip('/')}/{_FOLDERS[str(found.values['build_mode'])]}/{found.values['op_name']}"

    def _stated(self) -> bool:
        """Whether a design says what the operator does."""
        if not self.root or not os.path.isfile(f"{self.root}/docs/design.md"):
            return False
        from opdev.design.problems import said_text
        from opdev.phases.evidence import Evidence
        from opdev.project.operators import Operator
        from opdev.project.places import Places

        document = Evidence(Operator(self.root, Places())).design
        return document is not None and bool(said_text(document, "semantics.result"))

    def _shown(self, path: str) -> str:
        if path == self.cwd:
            return "."
        return path[len(self.cwd) + 1 :] if path.startswith(f"{self.cwd}/") else path

    def _unwritable(self, path: str, error: OSError) -> Exception:
        return UsageError(say("unwritable", self.lang, path=self._shown(path), why=error.strerror or error))
