"""Phase 6.5 as it is run: one round opened, changed by a person or a named program, retested, and a decision proposed.

The retest is phase 4's steps, then phase 6's measurement on its own (the baseline is not measured again).  Nothing is
kept or taken back here: that is `opdev rounds keep` and `opdev rounds revert`.  What phase 6 measures is noted, too: the
first state it measured is Round 0.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from opdev.atomic import write_bytes
from opdev.perf.series import series_of
from opdev.phases.model import Gate, both
from opdev.phases.perf import design_limit
from opdev.rounds import ledger as ledgers
from opdev.rounds import work
from opdev.rounds.errors import Refused
from opdev.rounds.ledger import Retest, Round, interrupted
from opdev.rounds.measured import FIGURES, Measured
from opdev.rounds.restore import settle
from opdev.rounds.scan import Limits, scan
from opdev.rounds.store import Store
from opdev.rounds.texts import refusal, verdict
from opdev.rounds.tree import Tree
from opdev.rounds.verdict import CLOSED
from opdev.rules.model import Text
from opdev.runs.commands import Commands, commands
from opdev.runs.events import Event
from opdev.runs.handing import Given
from opdev.runs.measured import kind_of, logs_of
from opdev.runs.phasing import Phased, Phases, _Tried
from opdev.runs.reader import replay
from opdev.runs.rounds_limits import first_number
from opdev.runs.stepping import Stepped
from opdev.runs.store import Run
from opdev.runs.target import look

ROUND, CORRECT, MEASURE = "6.5", "4", "6"
_SAMPLES = 3
"""How often hardware is measured: the repetitions say what is noise."""
_IDEA = "idea.txt"


class Optimising(Phases):
    """Runs phases, and keeps the book of rounds."""

    def _run(self, spec: Commands) -> Phased:
        self._store = Store(self.stepper.target.root, Limits(bytes=self.plan.rounds_bytes))
        try:
            if interrupted(self._store.root):
                settle(self._store)
                self.events.add(
                    "note", text=both("上次被打断的恢复已接着做完", "a restore that had been cut off was finished")
                )
            before = len(self._told())
            done = super()._run(spec)
            if spec.phase == MEASURE:
                self._observe(self._told()[before:])
        except Refused as error:
            return Phased("blocked", None, refusal(error))
        return done

    def _try(self, spec: Commands) -> _Tried:
        if spec.phase != ROUND:
            return super()._try(spec)
        ledger = ledgers.read(self._store.root)
        if ledger.open is None:
            gate = self._gate(spec.phase)
            if gate is not None and gate.state != "closed":
                if gate.state == "skipped":
                    self.events.add("note", text=both(
                        '要做一轮就先 opdev rounds start "一项机制改动"，改好代码再 opdev run 6.5',
                        'to do a round all the same: `opdev rounds start "one mechanism"`, change the code, then `opdev run 6.5`',
                    ))  # fmt: skip
                return _Tried(Phased("passed"), gate)
            if self.plan.request == "all" and ROUND not in self.plan.external:
                # Nobody asked for a round by name, and nothing here changes code: it would lie open unnoticed.
                why = both(
                    '没有开着的轮次：opdev rounds start "一项机制改动"',
                    'no round is open: `opdev rounds start "one mechanism"`',
                )
                return _Tried(Phased("blocked", None, why), gate)
        one = ledger.open or self._start(ledger)
        one = self._named(one)
        if self._store.present().tree.code == one.code:
            why = both(
                f"Round {one.number} 还没有改代码：改好一项机制再 opdev run 6.5；不做了就 opdev rounds revert",
                f"round {one.number} is open, and no code was changed yet: change one mechanism, then `opdev run 6.5` again; or give it up with `opdev rounds revert`",
            )
            return _Tried(Phased("blocked", None, why), self._gate(spec.phase))
        return self._retest(one)

    def _start(self, ledger: ledgers.Ledger) -> Round:
        evidence = look(self._store.root)
        allowed = work.limit(ledger, design_limit(evidence), self.plan.max_rounds)
        _, one = work.start(self._store, "", allowed, first=first_number(evidence))
        self._tell(one, "started", both(f"Round {one.number} 开始", f"round {one.number} is open"))
        return one

    def _named(self, one: Round) -> Round:
        """With the idea that the program of a hand-over left, where nobody named one."""
        if one.idea:
            return one
        try:
            with open(f"{self._store.folder}/{one.number}/{_IDEA}", encoding="utf-8", errors="replace") as stream:
                idea = stream.read(2000)
        except OSError:
            return one
        return work.start(self._store, idea, work.Limit())[1] if idea.strip() else one

    def _retest(self, one: Round) -> _Tried:
        refused = self._lock_case(one)
        if refused is not None:
            return _Tried(Phased("blocked", None, refused))
        tree = scan(self._store.root, self._store.limits, self._store.put).tree
        before = len(self._told())
        self.plan = replace(self.plan, counts=())  # The whole matrix, whatever was named: half of it proves half.
        failed = self._steps(commands(CORRECT))
        route = commands(CORRECT).route(failed.cls) if failed is not None else None
        if failed is not None and (failed.result != "fail" or route == "here"):
            return self._unfinished(failed, route)
        missed = None
        if failed is None:
            only = commands(MEASURE)
            only = replace(only, steps=tuple(step for step in only.steps if step.id == "perf"))
            for _ in range(1 if self.sim else _SAMPLES):
                missed = self._steps(only)
                if missed is not None:
                    break
            if missed is not None and missed.result == "stopped":
                return self._unfinished(missed, None)
        if self._store.present().tree.code != tree.code:
            why = both(
                "复测期间代码又改了，这次复测不作数：再 opdev run 6.5",
                "the code was changed during its retest, which says nothing now: `opdev run 6.5` again",
            )
            return _Tried(Phased("blocked", None, why))
        return self._judge(one, tree, self._told()[before:], failed, missed)

    def _unfinished(self, failed: Stepped, route: str | None) -> _Tried:
        """A retest that came to no end, for reasons that are not the code's: nothing is noted."""
        if failed.result == "stopped":
            return _Tried(Phased("stopped"), None, failed)
        outcome = "failed" if failed.result == "fail" else "blocked"
        return _Tried(Phased(outcome, route, both(failed.message, failed.message), failed.cls), None, failed)

    def _judge(
        self, one: Round, tree: Tree, told: Sequence[Event], failed: Stepped | None, missed: Stepped | None
    ) -> _Tried:
        tested = any(e["type"] == "step-ended" and e.get("step") == "matrix" and e["result"] == "pass" for e in told)
        base = self._store.tree(f"{one.number}/base")
        test = Retest(
            len(one.retests) + 1, time.time(), self._run_id, self.stepper.executor.backend, tree.code,
            "fail" if failed is not None else "pass" if tested else "none", tuple(base.changes(tree)), _cases(told),
            failed.message if failed is not None else missed.message if missed is not None else "", self._measured(told, baseline=False),
        )  # fmt: skip
        _, one = work.add(self._store, one, test, tree)
        test = one.retests[-1]
        text = verdict(test.verdict)
        then = ["opdev rounds keep", "opdev rounds revert"]
        if test.verdict.what == "revert" or test.verdict.code in CLOSED:
            then = ["opdev rounds revert", *then[: test.verdict.code not in CLOSED]]
        names = both("，或 ".join(then), ", or ".join(f"`{t}`" for t in then))
        why = both(
            f"Round {one.number}：{text['zh']}（{names['zh']}）", f"round {one.number}: {text['en']} ({names['en']})"
        )
        self._tell(one, "retested", why, test)
        if failed is not None:
            return _Tried(Phased("failed", commands(CORRECT).route(failed.cls), why, failed.cls), None, failed)
        if missed is not None:
            message = both(f"没有测到性能：{missed.message}", f"nothing was measured: {missed.message}")
            outcome = "failed" if missed.result == "fail" else "blocked"
            return _Tried(Phased(outcome, commands(MEASURE).route(missed.cls), message, missed.cls), None, missed)
        return _Tried(Phased("blocked", None, why))

    def _lock_case(self, one: Round) -> Text | None:
        """Measure what was measured before: count, dtype and devices are taken over; why not, where others were asked for."""
        plan, stepper = self.plan, self.stepper
        locked = ledgers.read(self._store.root).locked(one.number, stepper.executor.backend)
        if locked is None:
            return None
        asked = [
            ("--pes", str(locked.n_pes), str(stepper.n_pes)),
            ("--count", locked.count, str(plan.count) if plan.count else locked.count),
            ("--dtype", locked.dtype, plan.dtype or locked.dtype),
        ]
        wrong = [f"{name} {want}" for name, want, have in asked if want != have]
        if wrong:
            words = " ".join(wrong)
            return both(
                f"前面的轮次是用 {words} 测的，换参数没有可比性：opdev run 6.5 {words}",
                f"the rounds before were measured with {words}, other parameters cannot be compared: `opdev run 6.5 {words}`",
            )
        self.plan = replace(plan, count=int(locked.count), devices=plan.devices or locked.devices)
        stepper.values = {**stepper.values, "dtype": locked.dtype}
        return None

    def _observe(self, told: Sequence[Event]) -> None:
        """Note what phase 6 measured."""
        measured, baseline = self._measured(told, baseline=False), self._measured(told, baseline=True)
        if measured is None and baseline is None:
            return
        one = work.observed(self._store, measured, baseline, self._run_id, _proven(self._store.root))
        if measured is None:
            return
        if one is None:
            self.events.add("note", text=both("测的不是任何一轮的状态，没有记入轮次：改过代码就用 opdev run 6.5", "this is no round's state and was noted for none: after a change, `opdev run 6.5`"))  # fmt: skip
            return
        self._tell(one, "measured", both(f"记入 Round {one.number}", f"noted for round {one.number}"), one.retests[-1])

    @property
    def _run_id(self) -> str:
        return os.path.basename(self.stepper.folder)

    def _told(self) -> list[Event]:
        """This run's events up to now."""
        return replay(Run(self._run_id, self.stepper.folder))

    def _measured(self, told: Sequence[Event], *, baseline: bool) -> Measured | None:
        """The measurement in some events: of the largest case, a sample for every launch that can be believed.

        It is read from the logs as reports and tables read them, so that all have the same figures; None where nothing was
        measured, or where so much of it is damaged that nothing follows.
        """
        side = "baseline" if baseline else "shmem"
        logs = logs_of(Run(self._run_id, self.stepper.folder), kind_of(look(self._store.root)), told)
        found = [s for s in series_of(logs)[0] if s.side == side and s.payload_bytes > 0]
        main = max(found, key=lambda s: (s.n_pes or 0, s.payload_bytes), default=None)
        if main is None or not main.good or main.doubtful:
            return None
        samples = tuple({name: v for name in FIGURES if (v := one.value(name)) is not None} for one in main.good)
        asked = [e.get("measures", {}) for e in told if e["type"] == "step-started"]
        case: dict[str, Any] = next(
            (m for m in reversed(asked) if m.get("count") == main.count and m.get("n_pes") == main.n_pes), {}
        )
        words = self.stepper.values
        return Measured(
            self.stepper.executor.backend, main.n_pes or self.stepper.n_pes, str(case.get("dtype", words["dtype"])),
            str(case.get("count", words["count"])), main.payload_bytes, samples, self._run_id, self.plan.devices,
        )  # fmt: skip

    def _tell(self, one: Round, what: str, text: Text, test: Retest | None = None) -> None:
        fields: dict[str, Any] = {"round": one.number, "idea": one.idea, "what": what, "text": dict(text)}
        if test is not None:
            m, v = test.measured, test.verdict
            fields |= {
                "at": f"{one.number}.{test.number}", "correctness": test.correctness, "proposal": v.what, "code": v.code,
                "gain": v.gain, "noise": v.noise, "changed": list(test.changed),
                "figures": {n: x for n in FIGURES if m is not None and (x := m.value(n)) is not None},
            }  # fmt: skip
        self.events.add("round", phase=ROUND, **fields)

    def _give(self, spec: Commands, gate: Gate | None) -> Given:
        given = super()._give(spec, gate)
        one = ledgers.read(self._store.root).open if spec.phase == ROUND else None
        if one is None:
            return given
        place = f"{self._store.folder}/{one.number}/{_IDEA}"
        with open(given.context, encoding="utf-8") as stream:
            value = json.load(stream)
        value["round"] = {
            "number": one.number,
            "idea": one.idea,
            "idea_file": place,
            "snapshot": f"{self._store.folder}/{one.number}/base.json",
        }
        write_bytes(given.context, (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode("utf-8"))
        zh = f"\n## Round {one.number}\n\n机制改动：{one.idea or f'（没有写；写进 {place}）'}\n"
        en = f"\n## Round {one.number}\n\nMechanism: {one.idea or f'(not named; write it into {place})'}\n"
        with open(given.brief, "a", encoding="utf-8") as stream:
            stream.write(zh if self.lang == "zh" else en)
        return given


def _proven(root: str) -> str:
    """What the last case matrix said, if it was of the present code."""
    evidence = look(root)
    record = evidence.record("matrix")
    if record is None or not evidence.matches(record):
        return "none"
    return "pass" if record.result == "pass" else "fail"


def _cases(told: Sequence[Event]) -> dict[str, int]:
    last = next((e for e in reversed(told) if e["type"] == "matrix"), None)
    return (
        {k: last[k] for k in ("total", "passed", "failed", "blocked") if isinstance(last.get(k), int)} if last else {}
    )
