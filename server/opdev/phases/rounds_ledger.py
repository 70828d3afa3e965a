"""What `opdev rounds` has on record, as status and gates see it: an open round, a restore that was cut off, decisions.

Nothing here is required: an operator whose rounds were done by hand has no such record.
"""

from __future__ import annotations

from collections.abc import Iterator

from opdev.phases import perf
from opdev.phases.evidence import Evidence
from opdev.phases.model import Check, Title, both
from opdev.rounds.errors import Refused
from opdev.rounds.ledger import Ledger, interrupted, read
from opdev.rounds.texts import refusal, verdict
from opdev.rules.model import Text

_TITLE = Title(
    "rounds-ledger", "报告与 opdev rounds 的记录一致", "the report agrees with what `opdev rounds` has on record"
)


def ledger(root: str) -> Ledger | None:
    """The record of an operator's rounds; None where it cannot be read."""
    try:
        return read(root)
    except Refused:
        return None


def standing(root: str) -> Text | None:
    """What is unfinished about rounds, and what to do; None where nothing is."""
    if interrupted(root):
        return both(
            "放回快照时被打断，文件可能新旧混杂：运行 opdev rounds，它会接着做完",
            "putting a snapshot back was cut off, files may be partly old and partly new: run `opdev rounds`, which finishes it",
        )
    try:
        one = read(root).open
    except Refused as error:
        return refusal(error)
    if one is None:
        return None
    idea = one.idea or "—"
    if not one.retests:
        return both(
            f"Round {one.number}（{idea}）开着，还没有复测：改好代码后 opdev run 6.5；不要了就 opdev rounds revert",
            f"round {one.number} ({idea}) is open and not retested: change the code, then `opdev run 6.5`; or `opdev rounds revert`",
        )
    said = verdict(one.retests[-1].verdict)
    return both(
        f"Round {one.number}（{idea}）开着，最近一次复测：{said['zh']}；opdev rounds keep 或 opdev rounds revert，再改就再 opdev run 6.5",
        f"round {one.number} ({idea}) is open, its last retest says: {said['en']}; `opdev rounds keep` or `opdev rounds revert`, or `opdev run 6.5` after another change",
    )


def checks(evidence: Evidence) -> Iterator[Check]:
    """Whether the report says of each round what was decided; nothing where there is no record."""
    try:
        found = read(evidence.root)
    except Refused as error:
        path = evidence.at(".opdev/rounds/rounds.json")
        yield _TITLE.unknown(refusal(error), both("改正或移走这个文件", "mend this file, or move it away"), path)
        return
    if found.done == 0 and found.open is None:
        return
    if found.open is not None:
        yield _TITLE.failed(
            both(f"Round {found.open.number} 还开着", f"round {found.open.number} is still open"),
            both("opdev run 6.5 复测，再 opdev rounds keep 或 revert", "retest it with `opdev run 6.5`, then `opdev rounds keep` or `revert`"),
        )  # fmt: skip
        return
    told = {r.number: r for r in perf.rounds_of(evidence)}
    for one in found.rounds:
        wanted = {"kept": "keep", "reverted": "revert"}.get(one.state)
        there = told.get(one.number)
        said = perf.decided(there) if there is not None else None
        if wanted is not None and said is not None and said != wanted:
            file = evidence.file(perf.REPORT)
            yield _TITLE.failed(
                both(f"Round {one.number} 报告写 {said}，实际做的是 {wanted}", f"the report says {said} of round {one.number}, and it was {one.state}"),
                both(f"把 Round {one.number} 的决策改成 {wanted}", f"write {wanted} as the decision of round {one.number}"),
                evidence.spot(file, there.start) if file is not None and there is not None else None,
            )  # fmt: skip
            return
    yield _TITLE.ok(both(f"{found.done} 轮都一致", f"{found.done} rounds agree"))
