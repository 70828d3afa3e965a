"""One answer judged while the form still stands: what would keep it from being recorded, told at its own question.

The judge is ``resolve``, as for the record.  What an answer means may depend on one that comes later: on a machine
without NPU tools CANN may lie in a container that nobody has named yet.  What is open is not held against anybody,
and is judged where it is decided.
"""

from __future__ import annotations

from collections.abc import Mapping

from opdev.intake.answers import understood
from opdev.intake.model import IDS, Probe, Remark, problem
from opdev.intake.resolving import Setting, resolve

_IN_ANY_CASE = frozenset({"relative-cann"})
"""What is wrong with a place of CANN wherever that is."""


def check(question: str, given: Mapping[str, str], probe: Probe, setting: Setting) -> list[Remark]:
    """Problems and notes of one answer; ``given`` are the answers so far, that one among them."""
    if question not in IDS:
        return [problem("unknown-question", question[:80], near="")]
    word, remark = understood(question, given.get(question, ""))
    if remark is not None:
        return [remark]
    words = {one: understood(one, text)[0] for one, text in given.items() if one in IDS} | {question: word}
    decided = probe.hardware or "container" in words
    found = resolve({one: text for one, text in words.items() if text}, probe, setting)
    about = {question, "cann"} if question == "container" else {question}
    return [
        one for one in found.remarks if one.id in about and (decided or one.id != "cann" or one.code in _IN_ANY_CASE)
    ]
