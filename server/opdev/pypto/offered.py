"""The moves a state allows now, each as the words of `opdev state`, with what it does: for people who choose from a list.

What a move would need beyond those words is named: an answer that only a person has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from opdev.pypto.moves import NAMES, Move, applied
from opdev.pypto.states import (
    RefusedError,
    State,
    Workflow,
    current,
    last_stage,
    modules,
    phase_number,
    phases,
    running,
    workflow,
)
from opdev.rules.model import Text

Asked = Literal["", "reason", "fusion"]
_MOST_PARTS = 100


@dataclass(frozen=True, slots=True)
class Offered:
    """One move; ``asks`` names the option that has to be given with it (``--reason TEXT``), empty for none."""

    words: tuple[str, ...]
    text: Text
    asks: Asked = ""


_STAGE = {
    "complete-stage": ("完成第 {n} 阶段（先过门禁）", "complete stage {n} (its gate is passed first)"),
    "start-stage": ("开始第 {n} 阶段", "start stage {n}"),
    "fail-stage": ("第 {n} 阶段记为失败", "note stage {n} as failed"),
    "rollback": ("退回第 {n} 阶段（要写原因）", "go back to stage {n} (a reason is asked for)"),
}
_PART = {
    "complete": ("{n} 验收（先过门禁）", "{n} is verified (its gate is passed first)"),
    "submit": ("{n} 提交验证（先过门禁）", "submit {n} to be verified (its gate is passed first)"),
    "start": ("开始 {n}", "start {n}"),
    "fail": ("{n} 没通过", "{n} failed"),
}
_DESIGN = {"zh": "提交设计（先过门禁）", "en": "submit the design (its gate is passed first)"}
_SINGLE = {"zh": "不拆分模块（L0）", "en": "plan no modules (L0)"}
_FUSION = {"zh": "拆成几个模块（L1，要写个数）", "en": "plan several modules (L1; how many is asked for)"}


def offered(state: State | None, by_files: Workflow | None = None) -> list[Offered]:
    """The moves that are allowed, those that go forward first; of an operator without a state file the one that makes it."""
    if state is None:
        kind: Workflow = by_files or "classic"
        text = {"zh": f"建状态文件（{NAMES[kind]['zh']}）", "en": f"make a state file ({NAMES[kind]['en']})"}
        return [Offered(("init",), text)]
    return [one for one in _all(state) if _allowed(state, one)]


def _all(state: State) -> Iterator[Offered]:
    stages = range(1, last_stage(state) + 1)
    yield from (_of_stage("complete-stage", n) for n in stages)
    yield Offered(("submit-design", "4"), _DESIGN)
    yield Offered(("plan-modules", "--single"), _SINGLE)
    yield Offered(("plan-modules",), _FUSION, "fusion")
    kind, names = ("module", _modules(state)) if workflow(state) != "classic" else ("phase", _phases(state))
    for action in ("complete", "submit", "start", "fail"):
        for word, name in names:
            zh, en = _PART[action]
            yield Offered((f"{action}-{kind}", word), {"zh": zh.format(n=name), "en": en.format(n=name)})
    for action in ("start-stage", "fail-stage"):
        yield from (_of_stage(action, n) for n in stages)
    for n in reversed(range(1, current(state))):
        yield _of_stage("rollback", n, "reason")


def _of_stage(action: str, number: int, asks: Asked = "") -> Offered:
    zh, en = _STAGE[action]
    return Offered((action, str(number)), {"zh": zh.format(n=number), "en": en.format(n=number)}, asks)


def _phases(state: State) -> list[tuple[str, str]]:
    """The phases that are known, and the next one."""
    known = list(phases(state))[:_MOST_PARTS]
    last = max((phase_number(name) or 0 for name in known), default=0)
    return [(name, name) for name in (*known, f"M{last + 1}")]


def _modules(state: State) -> list[tuple[str, str]]:
    return [(number, f"M{number}") for number in list(modules(state))[:_MOST_PARTS]]


def _allowed(state: State, one: Offered) -> bool:
    action, word, *_ = (*one.words, "")
    number = int(word) if word.isascii() and word.isdigit() else None
    if action == "start-stage" and number in running(state):
        return False
    move = Move(
        action, stage=None if action.endswith(("-module", "-phase")) else number, phase=word if action.endswith("-phase") else None,
        module=number if action.endswith("-module") else None, reason="?", fusion=one.asks == "fusion", modules=1,
    )  # fmt: skip
    try:
        applied(state, move)
    except RefusedError:
        return False
    return True
