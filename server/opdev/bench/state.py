"""``state.json`` and ``phase_state.json``: where a batch is, for whoever watches it and for the next one in its folder.

Written whole, and not more often than it is worth: many cases may change in one moment.  Times are local.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from opdev.atomic import write_bytes
from opdev.bench import monitor
from opdev.bench.model import Case, Outcome, Phase, Settings
from opdev.rules.model import Text
from opdev.runs import process
from opdev.runs.process import Identity

FOLDER = "state"
NAME, PHASE = "state.json", "phase_state.json"
RUNNING, FINISHED, UNFINISHED, PREFLIGHT = monitor.RUNNING, monitor.FINISHED, monitor.ENDED, monitor.PREFLIGHT
_LEAST, _SHARE = 0.2, 20.0
"""Seconds between two writings, and how many times as long as one took."""
_WORKING = ("pypto", "verifier")


def now() -> str:
    """This moment as the field writes it."""
    return time.strftime("%Y-%m-%d %H:%M:%S")


def path_of(root: str) -> str:
    return f"{root}/{FOLDER}/{NAME}"


def read(root: str) -> dict[str, Any] | None:
    """A batch's state; None where there is none that can be read."""
    try:
        with open(path_of(root), "rb") as stream:
            found = json.load(stream)
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def owner(state: Mapping[str, Any]) -> Identity | None:
    """The process of a batch, by number and start time; None where the state does not say."""
    try:
        return Identity(**state["main_identity"])
    except (KeyError, TypeError):
        return None


def tokens(state: Mapping[str, Any]) -> list[str]:
    """What the processes of a state that have not ended carry."""
    found = [str(one) for one in state.get("tokens") or () if isinstance(one, str)]
    return [one for one in found if one.startswith("bench-")]


class Board:
    """A batch's state in memory and on disk; may be told from any thread.

    ``trouble`` is why it could not be written last, empty where it could.
    """

    def __init__(
        self, settings: Settings, cases: Sequence[Case], batch: str, tell: Callable[[dict[str, Any]], None]
    ) -> None:
        self.root, self.report, self.trouble = settings.root, f"{settings.root}/report", ""
        self._poll, self._tell, self._timeout = max(settings.poll, _LEAST), tell, settings.generator.timeout
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._changed = threading.Event()
        self._closed = False
        self._live: dict[str, None] = {}
        me = process.identity()
        self._main: dict[str, Any] = {
            "batch_id": batch, "main_pid": me.pid, "main_identity": asdict(me), "main_status": PREFLIGHT, "main_exit_code": None,
            "artifact_root_dir": settings.root, "run_subdir": settings.root.rstrip("/").rpartition("/")[2],
            "started_at": now(), "updated_at": now(), "cases": [case.id for case in cases], "timeout_sec": settings.generator.timeout,
            "report_dir": self.report, "log_dir": f"{settings.root}/logs", "preflight_message": "", "preflight_messages": {},
            "preflight_timeout_sec": settings.preflight, "backend": None, "slots": [],
        }  # fmt: skip
        self._operators = {case.key: _operator(case) for case in cases}
        self._thread = threading.Thread(target=self._keep, daemon=True)

    def start(self) -> None:
        """Write it the first time (OSError where that cannot be) and keep it written."""
        self._write()
        self._thread.start()

    def main(self, **values: Any) -> None:
        with self._lock:
            self._main.update(values)
        self._changed.set()

    def phase(self, case: Case, phase: Phase, status: str, message: Text | None = None, **values: Any) -> None:
        """A case is in another phase, or in another state of it."""
        text = dict(message or {})
        with self._lock:
            one = self._operators[case.key]
            one |= {
                "phase": phase,
                "phase_status": status,
                "phase_message": text.get("zh", ""),
                "phase_messages": text,
                **values,
            }
            one["started_at"] = one["started_at"] or now()
            one["began"] = one["began"] or time.monotonic()
            if phase in _WORKING and status == "running" and one["phases"][phase]["started_at"] is None:
                one["phases"][phase] |= {"started_at": now(), "status": status}
            told = {key: one[key] for key in ("op_name", "case_id", "level", "pypto_status", "verifier_status")}
        self._changed.set()
        told |= {"phase": phase, "status": status, "message": text.get("zh", ""), "messages": text, "updated_at": now()}
        self._put(f"{self.report}/{case.key}/{PHASE}", told)
        self._tell({"event": "phase", "case": case.key, "phase": phase, "status": status, "message": text})

    def began(self, case: Case, phase: Phase, pid: int) -> None:
        """A program of a case runs."""
        with self._lock:
            one = self._operators[case.key]
            one["phases"][phase]["pid"] = pid
            one["opencode_pid"] = pid
        self._changed.set()

    def live(self, *carried: str, on: bool) -> None:
        """Processes that carry these tokens are about to start, or are gone; known on disk before they are."""
        with self._lock:
            for token in carried:
                if on:
                    self._live[token] = None
                else:
                    self._live.pop(token, None)
        if on:
            self.flush()

    def phase_of(self, case: Case) -> Phase:
        with self._lock:
            found: Phase = self._operators[case.key]["phase"]
            return found

    def ended(self, case: Case, phase: Phase, status: str, seconds: float) -> None:
        """A working phase of a case is over."""
        with self._lock:
            one = self._operators[case.key]
            one[f"{phase}_status"], one["opencode_pid"] = status, None
            one["phases"][phase] |= {
                "pid": None,
                "ended_at": now(),
                "duration_sec": round(seconds, 3),
                "status": status,
            }
            one["phases"][phase]["started_at"] = one["phases"][phase]["started_at"] or now()
        self._changed.set()

    def result(self, outcome: Outcome, message: Text) -> None:
        """A case is over."""
        with self._lock:
            begun = self._operators[outcome.case.key]["began"]
        seconds = round(time.monotonic() - begun, 3) if begun else 0.0
        values = {"result_status": outcome.overall, "ended_at": now(), "duration_sec": seconds}
        self.phase(outcome.case, "done", outcome.overall, message, **values)

    def kept(self, case: Case, record: Mapping[str, Any]) -> None:
        """A case that an earlier batch finished."""
        with self._lock:
            one = self._operators[case.key]
            one |= {
                "phase": "done", "phase_status": record["overall_status"], "result_status": record["overall_status"], "kept": True,
                "pypto_status": record["pypto_status"], "verifier_status": record["verifier_status"], "backend": record["backend"],
                "started_at": record["started_at"], "ended_at": record["finished_at"],
            }  # fmt: skip
        self._changed.set()

    def snapshot(self) -> dict[str, Any]:
        """The state as it is now."""
        moment = time.time()
        with self._lock:
            operators, dead = [], self._main["main_status"] in monitor.STOPPED
            for one in self._operators.values():
                word = monitor.status_word(monitor.dev_status(one, moment, self._timeout, dead=dead), "zh")
                shown = {key: value for key, value in one.items() if key != "began"}
                operators.append(
                    {**shown, "phases": {k: dict(v) for k, v in one["phases"].items()}, "dev_status": word}
                )
            return {**self._main, "updated_at": now(), "tokens": list(self._live), "operators": operators}

    def flush(self) -> None:
        """Have it on disk now, as far as it can be."""
        try:
            self._write()
        except OSError as error:
            self.failed(path_of(self.root), error)
        else:
            self.trouble = ""

    def close(self) -> None:
        """Write it a last time; nothing is written afterwards."""
        self._closed = True
        self._changed.set()
        if self._thread.is_alive():
            self._thread.join()
        self.flush()
        self._tell({"event": "state", "state": self.snapshot()})

    def _keep(self) -> None:
        while not self._closed:
            self._changed.wait(self._poll)
            self._changed.clear()
            begun = time.monotonic()
            self.flush()
            self._tell({"event": "state", "state": self.snapshot()})
            took = time.monotonic() - begun
            deadline = time.monotonic() + max(_LEAST, _SHARE * took)
            while not self._closed and (left := deadline - time.monotonic()) > 0:
                time.sleep(min(left, _LEAST))

    def _write(self) -> None:
        with self._writing:
            data = json.dumps(self.snapshot(), ensure_ascii=False, indent=1).encode("utf-8", "replace")
            write_bytes(path_of(self.root), data)

    def _put(self, path: str, value: Mapping[str, Any]) -> None:
        try:
            write_bytes(path, json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "replace"))
        except OSError as error:
            self.failed(path, error)

    def failed(self, path: str, error: OSError) -> None:
        """Something could not be written; it is told once until something can be."""
        why = f"{path}: {error.strerror}"
        if not self.trouble:
            self._tell({"event": "trouble", "why": why})
        self.trouble = why


def _operator(case: Case) -> dict[str, Any]:
    phase = {"pid": None, "started_at": None, "ended_at": None, "duration_sec": None, "status": None}
    return {
        "case_id": case.id, "level": case.level, "report_key": case.key, "op_name": case.op, "phase": "pending",
        "phase_status": "pending", "phase_message": "", "phase_messages": {}, "opencode_pid": None,
        "phases": {"pypto": dict(phase), "verifier": dict(phase)}, "started_at": None, "ended_at": None, "duration_sec": None,
        "result_status": None, "pypto_status": None, "verifier_status": None, "slot": None, "backend": None, "kept": False,
        "began": None,
    }  # fmt: skip
