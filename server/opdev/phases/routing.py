"""Where a failure leads, in words: the phase that mends it, and what is run afterwards.

``commands/`` says which class of failure leads where; a run says it when a step fails and keeps it in its record.
``returned`` reads it back, so that a status tells what the run told.
"""

from __future__ import annotations

from dataclasses import dataclass

from opdev.phases.evidence import Evidence
from opdev.phases.graph import BY_ID, ORDER
from opdev.phases.model import Spot, both
from opdev.rules.model import Text

HERE = "here"


@dataclass(frozen=True, slots=True)
class Returned:
    """A failure on record that is about the present code: the phase it leads back to, why, what to do, its line."""

    phase: str
    cls: str
    why: Text
    next: Text
    place: Spot


def way(phase: str, route: str, cls: str) -> Text:
    """What to do about a failure of a class in ``phase`` that leads to ``route``."""
    if route == HERE:
        if cls == "environment":
            return both(
                f"环境问题就地解决，代码不用改；缺什么先补上，再 opdev run {phase}",
                f"the environment is at fault, the code stays as it is: put right what is missing, then `opdev run {phase}`",
            )
        return both(f"就地解决，再 opdev run {phase}", f"mend it in place, then `opdev run {phase}`")
    if route == phase:
        return both(f"改好后再 opdev run {phase}", f"mend it, then `opdev run {phase}` again")
    if ORDER.index(route) > ORDER.index(phase):
        return both(f"接着 opdev run {route}", f"go on with `opdev run {route}`")
    title = BY_ID[route].title
    if route == "1":
        return both(
            f"回到 Phase 1（{title['zh']}）：契约做不到或设计有误，改 docs/design.md，过 opdev gate 1，再依次往下：opdev run all --resume",
            f"back to Phase 1 ({title['en']}): the contract cannot be met or the design is wrong. Revise docs/design.md, pass `opdev gate 1`, then go down again: `opdev run all --resume`",
        )
    if route == "2":
        return both(
            f"回到 Phase 2（{title['zh']}）：改数据、golden 或检查脚本，opdev run 2，再 opdev run {phase}",
            f"back to Phase 2 ({title['en']}): mend data, golden or checker, `opdev run 2`, then `opdev run {phase}`",
        )
    if route == "3" and cls in ("correctness", "kernel"):
        return both(
            f"回到 Phase 3（{title['zh']}）：局部修改，opdev run 3（增量编译、2 PE 冒烟），再整体 opdev run {phase}；若是契约本身做不到，回 Phase 1 改设计",
            f"back to Phase 3 ({title['en']}): a local fix, `opdev run 3` (incremental build, 2-PE smoke run), then the whole of `opdev run {phase}`; if it is the contract that cannot be met, revise the design in Phase 1",
        )
    if route == "3":
        return both(
            f"回到 Phase 3（{title['zh']}）：局部修改，opdev run 3（增量编译、2 PE 冒烟），再整体 opdev run {phase}",
            f"back to Phase 3 ({title['en']}): a local fix, `opdev run 3` (incremental build, 2-PE smoke run), then the whole of `opdev run {phase}`",
        )
    return both(
        f"回到 Phase {route}（{title['zh']}），再 opdev run {phase}",
        f"back to Phase {route} ({title['en']}), then `opdev run {phase}`",
    )


def returned(evidence: Evidence) -> Returned | None:
    """What the newest record says, where it is of a failure of the present code; None where all is well, or nothing is known."""
    record = evidence.records[-1] if evidence.records else None
    if record is None or record.result == "pass" or not record.route or evidence.matches(record) is not True:
        return None
    phase = record.phase if record.route == HERE else record.route
    if phase not in BY_ID or record.phase not in BY_ID:
        return None
    message = record.message or record.step
    return Returned(
        phase, record.cls, both(f"{record.step}：{message}", f"{record.step}: {message}"),
        way(record.phase, record.route, record.cls), Spot(record.path, record.line),
    )  # fmt: skip
