"""One case of a batch: prepared, generated, verified.  Whatever goes wrong in it is its own outcome."""

from __future__ import annotations

import os
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

from opdev.atomic import write_bytes
from opdev.bench import artifacts, generating, memory, reading, requirement, resuming
from opdev.bench.generating import Watch
from opdev.bench.memory import Guard
from opdev.bench.model import Backend, BenchError, Case, Generated, Outcome, Phase, Settings, Verified, overall_of
from opdev.bench.slots import Pool
from opdev.bench.state import Board, now
from opdev.bench.texts import both
from opdev.runs.execute import Stop

EXCEPTION_LOG = "exception.log"


@dataclass
class _Going:
    """How far a case is; what is there when it breaks is not lost."""

    slot: str = ""
    generated: Generated | None = None
    verified: Verified | None = None
    copies: Sequence[str] = ()
    phase: Phase = "prepare"


class Casework:
    """The cases of one batch; ``go`` may be called from several threads."""

    def __init__(
        self, settings: Settings, cases: Sequence[Case], python: str, board: Board, token: str, pool: Pool, guard: Guard
    ) -> None:
        self.guard = guard
        self.settings, self.python, self.board, self.token, self.pool = settings, python, board, token, pool
        self.backend = cast("Backend", settings.verifier.backend)
        self.numbers = {case.key: number for number, case in enumerate(cases)}
        self.folders = folders(settings, cases)

    def report(self, case: Case) -> str:
        return f"{self.settings.root}/report/{case.key}"

    def kept(self, case: Case) -> Mapping[str, Any] | None:
        """The record of a case that an earlier batch decided and that still holds."""
        return resuming.kept(case, self.report(case), self._inputs(case))

    def go(self, case: Case, stop: Stop) -> tuple[Outcome, Mapping[str, Any]] | None:
        """The outcome of a case and what it was made of; None where it was stopped before its end."""
        begun, going = now(), _Going()
        inputs: Mapping[str, Any] = {}
        try:
            finished, inputs = self._through(case, going, stop)
            if not finished:
                return None
        except Exception as error:  # noqa: BLE001 - one case's fault is one case's record
            if _stopped(stop):
                return None
            self._broken(case, going, error)
        generated = going.generated or Generated("exception")
        outcome = Outcome(
            case, self.report(case), going.slot, generated, going.verified, overall_of(generated, going.verified),
            begun, now(), going.copies,
        )  # fmt: skip
        return outcome, inputs

    def _through(self, case: Case, going: _Going, stop: Stop) -> tuple[bool, Mapping[str, Any]]:
        folder, report = self.folders[case.key], self.report(case)
        os.makedirs(report, exist_ok=True)
        resuming.aside(report)
        self.board.phase(case, "prepare", "running")
        os.makedirs(folder, exist_ok=True)
        spec = reading.spec_of(case, self.python, None, stop)
        requirement.write(spec, folder)
        going.phase = "pypto"
        self.board.phase(case, "pypto", "waiting")
        log_dir = f"{self.settings.root}/logs/{case.key}"
        with self.pool.one(stop) as slot:
            if slot is None:
                return False, {}
            going.slot = slot.label
            self.board.phase(case, "pypto", "running", slot=slot.label)
            token = f"{self.token}-{self.numbers[case.key]}"
            watch = Watch(token, lambda _, pid: self.board.began(case, "pypto", pid))
            carried = [f"{token}-{number}" for number in range(1, self.settings.generator.retry + 2)]
            try:
                self.board.live(*carried, on=True)
                with self.guard.watching(token, stop):
                    made = generating.generate(case, spec, folder, slot, self.settings.generator, log_dir, stop, watch)
            finally:
                self.board.live(*carried, on=False)
        if _stopped(stop):
            return False, {}
        if stop.asked:
            made = replace(made, message=both("b-memory", most=self.guard.limit // 1_000_000))
        going.generated = made
        self.board.ended(case, "pypto", made.status, made.seconds)
        going.copies = self._copied(folder, report)
        inputs = self._inputs(case)
        if not made.good:
            return True, inputs
        if self.settings.verifier.skip:
            going.verified = Verified("skipped", self.backend, message=both("b-verify-skipped"))
            return True, inputs
        going.phase = "verifier"
        self.board.phase(case, "verifier", "waiting", pypto_status=made.status)
        with self.pool.one(stop) as slot:
            if slot is None:
                return False, {}
            going.slot = slot.label
            self.board.phase(case, "verifier", "running", slot=slot.label, backend=self.backend)
            from opdev.bench import verifying

            found = verifying.verify(case.op, folder, case.path, report, self.settings.verifier, slot, stop)
        if _stopped(stop):
            return False, {}
        going.verified = found
        self.board.ended(case, "verifier", found.status, found.seconds)
        return True, inputs

    def _copied(self, folder: str, report: str) -> Sequence[str]:
        """Copies for the report; a full disk costs them, never the work they are copies of."""
        try:
            return artifacts.copied(folder, report)[0]
        except OSError as error:
            self.board.failed(f"{report}/{artifacts.FOLDER}", error)
            return ()

    def _inputs(self, case: Case) -> dict[str, Any]:
        return resuming.inputs(case, self.folders[case.key], self.settings.verifier, self.backend)

    def _broken(self, case: Case, going: _Going, error: Exception) -> None:
        """What was raised, as the outcome of the half it was raised in."""
        text = "".join(traceback.format_exception(error))
        path = f"{self.settings.root}/logs/{case.key}/{EXCEPTION_LOG}"
        with suppress(OSError):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_bytes(path, text.encode("utf-8", "replace"))
        if isinstance(error, BenchError):
            message = both(error.key, **error.values)
        else:
            message = both("b-exception", why=text.strip().rpartition("\n")[2], log=path)
        if going.phase == "verifier":
            going.verified = Verified("error", self.backend, "ERROR_VERIFIER_OR_CLI", message, log=path)
            self.board.ended(case, "verifier", "error", 0.0)
            return
        kept = going.generated or Generated("exception", log=path)
        going.generated = replace(kept, status="exception", message=message)
        self.board.ended(case, "pypto", "exception", 0.0)


def _stopped(stop: Stop) -> bool:
    """Whether the whole batch was stopped, and not this case alone."""
    return stop.asked > 0 and stop.reason != memory.REASON


def folders(settings: Settings, cases: Sequence[Case]) -> dict[str, str]:
    """The operator's folder of each case: ``<repo>/<workdir>/<level>/<case>``, or below the batch where there is no repo.

    The field's own benchmark names it by the operator.  Such a folder is taken where nothing is to be generated and no
    other case of the batch would have the same one.
    """
    generator = settings.generator
    if not generator.repo_root:
        return {case.key: f"{settings.root}/ops/{case.key}" for case in cases}
    base = os.path.normpath(f"{generator.repo_root}/{generator.workdir_root}")
    named = [f"{case.level}/{case.op}" for case in cases]
    found = {}
    for case, other in zip(cases, named, strict=True):
        found[case.key] = f"{base}/{case.key}"
        as_is = generator.skip or not generator.command
        if (
            as_is
            and not os.path.isdir(found[case.key])
            and named.count(other) == 1
            and os.path.isdir(f"{base}/{other}")
        ):
            found[case.key] = f"{base}/{other}"
    return found
