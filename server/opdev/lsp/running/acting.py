"""Starting, stopping and resuming runs: each is one call of ``opdev …``, and what it says is what the user gets."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from opdev.lsp import fields, wire
from opdev.lsp.running import children
from opdev.lsp.running.asked import run_words
from opdev.lsp.running.roots import refusal, root_of, run_of, trusted
from opdev.lsp.uris import to_uri
from opdev.rules.model import Lang
from opdev.runs import store
from opdev.runs.errors import UsageError
from opdev.runs.texts import say as said

if TYPE_CHECKING:
    from opdev.lsp.running.desk import Desk
    from opdev.lsp.running.messages import ClangdResult, FileNote, StartedResult, StoppedResult

_START, _STOP = 60.0, 120.0
_LONGEST = 2000
LANGS: tuple[Lang, ...] = ("zh", "en")
HOME = os.path.expanduser("~") if os.path.isdir(os.path.expanduser("~")) else "/"
"""Where children that are told every path run."""


class Acting:
    """The commands that do something; all of them refuse in a workspace that is not trusted."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._session = desk.session

    async def run(self, params: Mapping[str, Any]) -> StartedResult:
        """``opdev.runPhase``: start a run; it is there when this is answered."""
        from opdev.runs.pypto import NAMES, is_pypto

        trusted(self._session, "opdev.runPhase")
        run_words(params, also=NAMES)
        root = root_of(self._session, params)
        asked = dict(params)
        if await self._desk.off_loop(lambda: is_pypto(root)) is not None:
            # Simulated, whatever the setting for the phases of others says.
            asked["phase"] = self._stage(root, str(asked["phase"]))
        elif not asked.get("executor") and not asked.get("container"):
            # Whoever asks without a lens gets what the lens would have asked for.
            asked["executor"] = await self._desk.off_loop(lambda: self._executor(root)) or None
        return await self._start(root, run_words(asked))

    def _stage(self, root: str, asked: str) -> str:
        """The stage of a PyPTO operator that is meant; what cannot be run is refused in the command's own words."""
        from opdev.runs.pypto import asked as stage_of

        try:
            return stage_of(asked, root)
        except UsageError as error:
            text = {lang: said(error.key, lang, **error.values) for lang in LANGS}
            raise wire.Refusal(wire.REQUEST_FAILED, text[self._session.lang_of("auto")], dict(text)) from error

    def _executor(self, root: str) -> str:
        from opdev.lsp.offers import executor_of

        return executor_of(self._session, self._session.operators.now(root))

    async def resume(self, params: Mapping[str, Any]) -> StartedResult:
        """``opdev.resumeRun``: go on where a run left off, as it was asked for."""
        trusted(self._session, "opdev.resumeRun")
        root = root_of(self._session, params)
        every = store.runs(root)
        run = run_of(self._session, root, params) if params.get("run") is not None else every[-1] if every else None
        if run is None:
            raise refusal(self._session, "nothing-ran", name=root.rpartition("/")[2])
        plan = run.plan
        asked: dict[str, Any] = {"phase": plan.get("request", "all"), "resume": True}
        for key, name in (("executor", "executor"), ("pes", "counts"), ("keepGoing", "keep_going"), ("cases", "cases"),
                          ("count", "count"), ("iters", "iters"), ("dtype", "dtype"), ("devices", "devices")):  # fmt: skip
            if plan.get(name):
                asked[key] = list(plan[name]) if key in ("cases", "pes") else plan[name]
        if plan.get("container"):
            asked["container"] = plan["container"]
        return await self._start(root, run_words(asked))

    async def _start(self, root: str, words: Sequence[str]) -> StartedResult:
        self._desk.follow(root)
        done = await self._call(
            ["run", *words, "--op", root, "--detach", "--format", "jsonl", "--lang", self._session.lang_of("auto")],
            _START,
        )
        if done.status != 0:
            raise self._failed("run", done)
        found = json.loads(done.out)
        self._desk.started(root, found["run"])
        return {"run": found["run"], "root": to_uri(root), "phase": words[0]}

    async def stop(self, params: Mapping[str, Any]) -> StoppedResult:
        """``opdev.stopRun``: ask runs of an operator to end, and wait until they have."""
        trusted(self._session, "opdev.stopRun")
        root = root_of(self._session, params)
        named = [run_of(self._session, root, params).id] if params.get("run") is not None else []
        going = [run.id for run, _ in store.active(root)]
        if not named and not going:
            raise refusal(self._session, "nothing-runs", name=root.rpartition("/")[2])
        now = ["--now"] if params.get("now") is not None and fields.find(params, "now", bool) else []
        done = await self._call(
            ["stop", *(named or ["--all"]), *now, "--op", root, "--lang", self._session.lang_of("auto")], _STOP
        )
        self._desk.wake()
        if done.status != 0 and not (named and named[0] not in going):
            raise self._failed("stop", done)
        return {"root": to_uri(root), "runs": named or going, "text": done.out.strip()}

    async def clangd(self, params: Mapping[str, Any]) -> ClangdResult:
        """``opdev.clangd``: write what clangd needs to understand the operator."""
        trusted(self._session, "opdev.clangd")
        root = root_of(self._session, params)
        overwrite = params.get("overwrite") is not None and fields.find(params, "overwrite", bool)
        return await self._desk.off_loop(lambda: self._clangd(root, overwrite=overwrite))

    def _clangd(self, root: str, *, overwrite: bool) -> ClangdResult:
        from opdev.clangd import Note, write
        from opdev.programs import python_of

        lang = self._session.lang_of("auto")
        settings = self._session.rulebook.configs.for_folder(root).settings.run
        try:
            done = write(root, overwrite=overwrite, python=python_of(settings, os.environ))
        except OSError as error:
            raise refusal(self._session, "unwritable", path=root, why=error.strerror or error) from error

        def told(notes: Sequence[Note]) -> list[FileNote]:
            return [{"uri": to_uri(note.path), "text": note.text(lang)} for note in notes]

        return {
            "root": to_uri(root), "origin": done.origin, "files": len(done.files), "written": [to_uri(path) for path in done.wrote],
            "same": [to_uri(path) for path in done.same], "kept": told(done.kept), "notes": told([*done.notes, *done.left_out]),
        }  # fmt: skip

    async def _call(self, words: list[str], patience: float) -> children.Done:
        try:
            return await children.call(words, HOME, patience)
        except TimeoutError:
            raise refusal(self._session, "no-answer", command=words[0], seconds=patience) from None

    def _failed(self, command: str, done: children.Done) -> wire.Refusal:
        why = (done.err.strip() or done.out.strip()).removeprefix(f"opdev {command}: ")
        return refusal(self._session, "died", command=command, status=done.status, why=why[-_LONGEST:])
