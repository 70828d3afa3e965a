"""Which phases a run goes through, where it begins, and what is said at each stop.

A run of ``all`` stops where a person or the hardware is needed.  With ``--keep-going`` it passes those, never a
failure; what was passed is told at its end.  Resumed, it begins at the earliest phase that is not finished.
"""

from __future__ import annotations

from collections.abc import Callable

from opdev.phases import intake
from opdev.phases.graph import BY_ID, next_after, skipped
from opdev.phases.model import NOTHING, both
from opdev.phases.routing import HERE
from opdev.phases.status import judged
from opdev.rules.model import Text
from opdev.runs.events import Events
from opdev.runs.execute import Stop
from opdev.runs.phasing import Phased, Phases
from opdev.runs.plan import Plan
from opdev.runs.target import look


class Sequence:
    """The phases of one run.  ``told`` is called with each phase as it begins."""

    def __init__(self, plan: Plan, events: Events, stop: Stop) -> None:
        self.plan, self.events, self.stop = plan, events, stop
        self._begin: str | None = None

    @property
    def _sim(self) -> bool | None:
        return self.plan.executor == "sim" or None

    @property
    def phases(self) -> list[str]:
        """The phases it means to go through."""
        if self.plan.request != "all":
            return [self.plan.request]
        found: list[str] = []
        name: str | None = self._first()
        flags = look(self.plan.root).flags
        while name:
            found.append(name)
            name = next_after(name, flags)
        return found

    def _first(self) -> str:
        """Where it begins; empty where everything is done."""
        if self._begin is None:
            self._begin = self._earliest() if self.plan.resume or self.plan.resume_of is not None else "0"
        return self._begin

    def _earliest(self) -> str:
        evidence = look(self.plan.root, simulated=self._sim)
        if not intake.complete(evidence) or intake.lacking(evidence):
            return "0"
        at = judged(evidence).at
        return "" if at.complete else at.phase.id

    def go(self, runner: Phases, told: Callable[[str], None]) -> Phased:
        """Run them; the first that stopped it, or that was passed over."""
        if self.plan.request != "all":
            told(self.plan.request)
            return runner.run(self.plan.request)
        name: str | None = self._first()
        if not name:
            self.events.add("note", text=both("全部阶段都已完成，没有可接着做的；从头再来用 opdev run all", "every phase is done, there is nothing to go on with; `opdev run all` starts over"))  # fmt: skip
        passed: list[tuple[str, Phased]] = []
        while name and not self.stop.asked:
            why = skipped(look(self.plan.root).flags).get(name)
            if why is not None:
                self.events.add("phase-skipped", phase=name, why=dict(why))
            else:
                told(name)
                done = runner.run(name)
                if done.outcome == "blocked" and self._passes(name, done):
                    passed.append((name, done))
                elif done.outcome != "passed":
                    self._explain(name, done)
                    return done
            name = next_after(name, look(self.plan.root).flags)
        return _summed(passed)

    def _passes(self, name: str, done: Phased) -> bool:
        """Whether a phase that waits is passed."""
        if done.route == "0" and name != "0":
            return False
        if done.skipped:
            return True
        if not self.plan.keep_going or (name == "0" and intake.lacking(look(self.plan.root, simulated=self._sim))):
            return False
        self.events.add("note", text=both("这一阶段在等人处理，按 --keep-going 继续", "this phase waits for a person; going on (--keep-going)"))  # fmt: skip
        return True

    def _explain(self, name: str, done: Phased) -> None:
        """Why a run of ``all`` ends here, and how it goes on."""
        if done.outcome != "blocked":
            return
        title = BY_ID[name].title
        again = self.plan.again(name)
        if done.route == HERE:
            text = both(
                f"停在 Phase {name}（{title['zh']}）：环境不全。补上后接着：{again}",
                f"stopped at Phase {name} ({title['en']}): the environment is not complete. Once it is: `{again}`",
            )
        elif done.route == "0" or (name == "0" and intake.lacking(look(self.plan.root, simulated=self._sim))):
            text = both(
                f"先回答启动确认（opdev intake{self.plan.where}），再：{again}",
                f"answer the intake first (`opdev intake{self.plan.where}`), then `{again}`",
            )
        else:
            text = both(
                f"停在 Phase {name}（{title['zh']}）：这一步要人来做。做完接着：{again}；先跳过它：加 --keep-going",
                f"stopped at Phase {name} ({title['en']}): this is a person's to do. Once done: `{again}`; to pass it for now, add --keep-going",
            )
        self.events.add("note", text=text)


def _summed(passed: list[tuple[str, Phased]]) -> Phased:
    """What a run that reached its end says of the phases it passed without their gates."""
    if not passed:
        return Phased("passed")
    pieces: list[Text] = [
        both(
            f"Phase {name}{'（未在模拟环境运行）' if done.skipped else ''}：{done.why['zh']}",
            f"Phase {name}{' (not run on the stand-in)' if done.skipped else ''}: {done.why['en']}",
        )
        for name, done in passed
    ]
    why = both("；".join(p["zh"] for p in pieces), "; ".join(p["en"] for p in pieces)) if pieces else NOTHING
    return Phased("blocked", None, why)
