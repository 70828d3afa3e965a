"""The five questions for an editor, and the record of the answers.

What a machine shows is asked of child processes.  The record is written by ``opdev intake`` itself, in a process of
its own: all of it or nothing, whatever becomes of the editor.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from opdev.lsp import fields
from opdev.lsp.running import children
from opdev.lsp.running.roots import refusal, root_of, trusted
from opdev.lsp.uris import to_uri

if TYPE_CHECKING:
    from opdev.intake import Probe
    from opdev.lsp.running.desk import Desk
    from opdev.lsp.running.messages import IntakeResult

_PATIENCE = 180.0
"""Torch may take a minute to import, a container to answer."""
_LONGEST = 2000


class Asking:
    """``opdev/intake``."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._session = desk.session
        self._seen: dict[str, Probe] = {}
        """What each operator's machine showed when the questions were made: their answers are judged by it."""

    async def intake(self, params: Mapping[str, Any]) -> IntakeResult:
        """The questions, with ``answers`` the record, and with ``check`` what is wrong with one of them."""
        unknown = sorted(set(params) - {"root", "name", "answers", "reconfirm", "check"})
        if unknown:
            raise fields.FieldError(f"{unknown[0]} is none of root, name, answers, reconfirm, check")
        root = root_of(self._session, params) if params.get("root") is not None else ""
        name = fields.text(params, "name") if params.get("name") is not None else ""
        if bool(root) == bool(name):
            raise fields.FieldError("one of root and name is needed")
        if params.get("answers") is None:
            return await self._desk.off_loop(lambda: self._questions(root))
        if params.get("check") is not None:
            question, said = fields.text(params, "check"), _said(params)
            return await self._desk.off_loop(lambda: self._checked(root, name, question, said))
        return await self._record(root, name, params)

    def _folder(self, root: str) -> str:
        folders = self._session.documents.folder_paths
        return root or (folders[0] if folders else os.path.expanduser("~"))

    def _questions(self, root: str) -> IntakeResult:
        from opdev.intake import TITLE, probe, questions
        from opdev.intake.recording import Existing, existing

        lang = self._session.lang_of("auto")
        before = existing(root) if root else Existing("")
        seen = self._seen[root] = probe(self._folder(root), recorded=before.values, root=root)
        return {
            "state": "questions", "root": to_uri(root) if root else None, "path": before.path or None, "title": TITLE[lang],
            "questions": [question.as_json() for question in questions(lang, seen)], "probe": _plain(asdict(seen)),
            "record": _plain(dict(before.values)) if before.raw is not None else None, "complete": before.complete,
            "missing": [], "problems": [], "notes": [], "changes": [], "text": "",
        }  # fmt: skip

    def _checked(self, root: str, name: str, question: str, said: Mapping[str, str]) -> IntakeResult:
        """What is wrong with one answer; nothing is written."""
        from opdev.intake import probe
        from opdev.intake.checking import check
        from opdev.intake.recording import existing
        from opdev.intake.resolving import Setting
        from opdev.programs import engine_of

        folder = self._folder(root)
        seen = self._seen.get(root) or probe(folder, recorded=existing(root).values if root else {}, root=root)
        self._seen[root] = seen
        run = self._session.rulebook.configs.for_folder(root or folder).settings.run
        setting = Setting(
            name or os.path.basename(root), os.path.basename(os.path.dirname(root)), engine_of(run, os.environ)
        )
        lang = self._session.lang_of("auto")
        found = [remark.as_json(lang) for remark in check(question, said, seen, setting)]
        return {
            "state": "checked", "root": to_uri(root) if root else None, "path": None, "title": "", "questions": [], "probe": {},
            "record": None, "complete": False, "missing": [], "problems": [one for one in found if one["kind"] == "problem"],
            "notes": [one for one in found if one["kind"] == "note"], "changes": [], "text": "",
        }  # fmt: skip

    async def _record(self, root: str, name: str, params: Mapping[str, Any]) -> IntakeResult:
        session = self._session
        trusted(session, "opdev.intake")
        said = _said(params)
        lang = session.lang_of("auto")
        words = [
            "intake",
            *(["--op", root] if root else ["--name", name]),
            "--answers",
            "-",
            "--format",
            "json",
            "--lang",
            lang,
        ]
        if params.get("reconfirm") is not None and fields.find(params, "reconfirm", bool):
            words.append("--reconfirm")
        try:
            done = await children.call(
                words, self._folder(root), _PATIENCE, json.dumps(said, ensure_ascii=False).encode()
            )
            found = json.loads(done.out)
        except TimeoutError:
            raise refusal(session, "no-answer", command="intake", seconds=_PATIENCE) from None
        except ValueError:
            why = (done.err.strip() or done.out.strip()).removeprefix("opdev intake: ")[-_LONGEST:]
            raise refusal(session, "died", command="intake", status=done.status, why=why) from None
        state = found["state"]
        written = state in ("recorded", "unchanged", "kept")
        if written and found.get("path"):
            session.on_loop(session.operator_changed, found["path"])
        return {
            "state": "unchanged" if state == "kept" else state, "root": to_uri(found["root"]) if found["root"] else None, "path": found["path"], "title": "",
            "questions": found["questions"], "probe": {}, "record": found["record"], "complete": written,
            "missing": found["missing"], "problems": found["problems"], "notes": found["notes"], "changes": found["changes"],
            "text": found["text"],
        }  # fmt: skip


def _said(params: Mapping[str, Any]) -> dict[str, str]:
    answers = fields.find(params, "answers", dict)
    if not all(isinstance(value, str | bool) for value in answers.values()):
        raise fields.FieldError("answers are texts, or true and false")
    return {key: ("yes" if value else "no") if isinstance(value, bool) else value for key, value in answers.items()}


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """As JSON has it."""
    made: dict[str, Any] = json.loads(json.dumps(values, default=str))
    return made
