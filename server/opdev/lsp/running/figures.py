"""Precision and performance for panels: the documents of ``opdev precision`` and ``opdev perf``, as a terminal gets them.

Both are computed by child processes, so numpy is never loaded here and logs of hundreds of megabytes are read while the
editor types on.  They read outputs, goldens and logs; nothing of the workspace is run, so trust is not asked for.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from opdev.lsp import fields
from opdev.lsp.running import children
from opdev.lsp.running.acting import HOME
from opdev.lsp.running.roots import refusal, root_of, run_of
from opdev.runs.store import Run

if TYPE_CHECKING:
    from opdev.lsp.running.desk import Desk
    from opdev.lsp.running.messages import PerformanceResult, PrecisionResult

_PATIENCE = 300.0
"""Outputs of gigabytes take a minute."""
_LONGEST = 2000
_SLACK = 1.0
"""Seconds by which clocks of files and of this machine may differ."""


class Figures:
    """``opdev/precision`` and ``opdev/performance``."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._session = desk.session

    async def precision(self, params: Mapping[str, Any]) -> PrecisionResult:
        """What ``opdev precision --op ROOT --format json`` says of the operator's last outputs."""
        _only(params, "root", "run")
        root = root_of(self._session, params)
        run = run_of(self._session, root, params) if params.get("run") is not None else None
        document = await self._document(["precision", "--op", root, "--format", "json"])
        return {
            "document": document,
            "ofRun": None if run is None else await self._desk.off_loop(lambda: _of_run(document, run)),
        }

    async def performance(self, params: Mapping[str, Any]) -> PerformanceResult:
        """What ``opdev perf show`` says of one run, or of the newest of everything; with ``against`` also ``perf compare``."""
        _only(params, "root", "run", "against", "csv")
        root = root_of(self._session, params)
        names = [
            run_of(self._session, root, {"run": params[key]}).id if params.get(key) is not None else ""
            for key in ("run", "against")
        ]
        run, against = names
        if against and not run:
            raise fields.FieldError("against needs run")
        wanted = ["perf", "show", *([run] if run else []), "--op", root, "--format", "json"]
        asked = [self._document(wanted)]
        if against:
            asked.append(self._document(["perf", "compare", run, against, "--op", root, "--format", "json"]))
        document, *compared = await asyncio.gather(*asked)
        csv = params.get("csv") is not None and fields.find(params, "csv", bool)
        return {
            "document": document,
            "comparison": compared[0] if compared else None,
            "csv": _csv(document) if csv else None,
            "rounds": await self._desk.off_loop(lambda: _rounds(root)),
        }

    async def _document(self, words: Sequence[str]) -> dict[str, Any]:
        """A command's JSON.  Its exit status is a verdict, which the document has, too."""
        session = self._session
        try:
            done = await children.call([*words, "--lang", session.lang_of("auto")], HOME, _PATIENCE)
        except TimeoutError:
            raise refusal(session, "no-answer", command=words[0], seconds=_PATIENCE) from None
        try:
            found = json.loads(done.out)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            why = (done.err.strip() or done.out.strip()).removeprefix(f"opdev {words[0]}: ")[-_LONGEST:]
            raise refusal(session, "died", command=words[0], status=done.status, why=why)
        return found


def _only(params: Mapping[str, Any], *names: str) -> None:
    unknown = sorted(set(params) - set(names))
    if unknown:
        raise fields.FieldError(f"{unknown[0]} is none of {', '.join(names)}")


def _of_run(document: Mapping[str, Any], run: Run) -> bool:
    """Whether the outputs were written while that run went on."""
    status = run.status
    if status is None:
        return False
    written = []
    for result in document["results"]:
        try:
            written.append(os.path.getmtime(result["output"]))
        except OSError:
            continue
    end = status.ended
    return bool(written) and all(
        status.started - _SLACK <= moment and (end is None or moment <= end + _SLACK) for moment in written
    )


def _csv(document: Mapping[str, Any]) -> str:
    from opdev.perf.export import to_csv

    return to_csv(document)


def _rounds(root: str) -> list[dict[str, Any]]:
    """The optimisation rounds as ``opdev rounds --format json`` has them; none where the ledger cannot be read."""
    from opdev.rounds.errors import Refused
    from opdev.rounds.overview import overview, row_data

    # The command itself would first finish a restore that was cut off; whoever looks changes nothing.
    try:
        return [row_data(row) for row in overview(root)]
    except Refused:
        return []
