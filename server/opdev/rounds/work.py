"""Starting, measuring, keeping and taking back rounds.  Whoever calls this holds the operator's lock.

Every change of the ledger comes after the snapshot it speaks of, and goes with the restore it needs in one journal.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace

from opdev.rounds import ledger as ledgers
from opdev.rounds.errors import Refused
from opdev.rounds.ledger import Ledger, Retest, Round
from opdev.rounds.measured import Measured
from opdev.rounds.restore import Restored, restore, settle
from opdev.rounds.store import Store
from opdev.rounds.tree import Tree
from opdev.rounds.verdict import CLOSED, judge

MOST = 5
"""Rounds of an optimisation; more are the user's wish."""
_STEP = re.compile(r"(\d{1,4})\.(\d{1,4})\Z")
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class Limit:
    """How many rounds there may be, and who says so: ``default``, ``design`` or ``asked``."""

    rounds: int = MOST
    by: str = "default"


def limit(ledger: Ledger, design: int | None, asked: int = 0) -> Limit:
    """The design may lower the five; only the user may raise them (``asked``, also from an earlier time)."""
    wished = max(asked, ledger.asked)
    if wished:
        return Limit(wished, "asked")
    if design is not None and 0 < design < MOST:
        return Limit(design, "design")
    return Limit()


def _line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]


def start(store: Store, idea: str, allowed: Limit, *, first: int = 1, hypothesis: str = "") -> tuple[Ledger, Round]:
    """Open a round on the present state; ``first`` is the least number it may have.

    A round that is open without an idea gets this one.  Refused while one is open, and above the limit.
    """
    settle(store)
    ledger = ledgers.read(store.root)
    idea, hypothesis = _line(idea), _line(hypothesis)
    if ledger.open is not None:
        if ledger.open.idea or not idea:
            raise Refused("open-already", number=ledger.open.number, idea=ledger.open.idea or "—")
        named = replace(ledger.open, idea=idea, hypothesis=hypothesis or ledger.open.hypothesis)
        ledger = ledger.with_round(named)
        ledgers.write(store.root, ledger)
        return ledger, named
    if ledger.base is None:
        ledger = _based(store, ledger)
    number = max((ledger.rounds[-1].number if ledger.rounds else 0) + 1, first)
    if number > allowed.rounds:
        raise Refused(f"limit-{allowed.by}", limit=allowed.rounds, number=number)
    store.forget(number)
    tree = store.take(f"{number}/base").tree
    made = Round(number, "open", idea, time.time(), tree.code, hypothesis=hypothesis)
    asked = allowed.rounds if allowed.by == "asked" else ledger.asked
    ledger = replace(ledger.with_round(made), asked=asked)
    ledgers.write(store.root, ledger)
    return ledger, made


def _based(store: Store, ledger: Ledger) -> Ledger:
    """With the present state as Round 0: phase 6 did not measure it, or nobody took note."""
    tree = store.take("0/end").tree
    return ledger.with_round(Round(0, "base", "", time.time(), tree.code, time.time(), end=tree.code))


def observed(
    store: Store, measured: Measured | None, baseline: Measured | None, run: str, correctness: str = "none"
) -> Round | None:
    """Take note of what phase 6 measured; the round whose state it was, None where it was none's.

    Before the first round this is Round 0: of the same state another repetition, of another state a new Round 0.
    """
    settle(store)
    ledger = ledgers.read(store.root)
    if baseline is not None:
        others = tuple(b for b in ledger.baselines if b.key != baseline.key)
        ledger = replace(ledger, baselines=(*others, baseline))
        ledgers.write(store.root, ledger)
    if measured is None:
        return None
    tree = store.present().tree
    fresh = ledger.base is None or (len(ledger.rounds) == 1 and ledger.base.code != tree.code)
    if fresh:
        ledger = _based(store, replace(ledger, rounds=()))
    of = [r for r in ledger.rounds if tree.code in (r.end or None, *(t.code for t in r.retests))]
    if not of:
        return None
    one = ledger.open if ledger.open in of else of[-1]
    assert one is not None
    ledger, one = _noted(store, ledger, one, tree, measured, run, correctness)
    return one


def _noted(
    store: Store, ledger: Ledger, one: Round, tree: Tree, measured: Measured, run: str, correctness: str
) -> tuple[Ledger, Round]:
    last = one.retest(tree.code)
    before = last.measured if last is not None else None
    if last is not None and (before is None or (before.key == measured.key and before.same_payload(measured))):
        joined = before.with_sample_of(measured) if before is not None else measured
        reference = ledger.reference(one.number, joined) if one.number else None
        found = judge(last.correctness, joined, reference) if one.number else last.verdict
        again = replace(last, measured=joined, verdict=found)
        one = replace(one, retests=tuple(again if r is last else r for r in one.retests))
        ledger = ledger.with_round(one)
        ledgers.write(store.root, ledger)
        return ledger, one
    said = last.correctness if last is not None else correctness
    test = Retest(len(one.retests) + 1, time.time(), run, measured.backend, tree.code, said, measured=measured)
    return add(store, one, test, tree)


def add(store: Store, one: Round, test: Retest, tree: Tree) -> tuple[Ledger, Round]:
    """Add a retest to a round, with its verdict and the state that was tested (whose contents are kept)."""
    ledger = ledgers.read(store.root)
    if one.number:
        found = judge(test.correctness, test.measured, ledger.reference(one.number, test.measured))
        test = replace(test, verdict=found)
        store.write(f"{one.number}/step-{test.number}", tree)
    one = replace(one, retests=(*one.retests, test))
    ledger = ledger.with_round(one)
    ledgers.write(store.root, ledger)
    return ledger, one


def keep(store: Store, idea: str = "", hypothesis: str = "") -> tuple[Round, Retest]:
    """Keep the open round as it is now.

    Refused unless exactly this state was retested, passed, and is comparable with what it is said to be better than.
    """
    settle(store)
    ledger = ledgers.read(store.root)
    one = _open(ledger)
    if idea:
        one = replace(one, idea=_line(idea))
    if hypothesis:
        one = replace(one, hypothesis=_line(hypothesis))
    if not one.idea:
        raise Refused("no-idea", number=one.number)
    code = store.present().tree.code
    test = one.retest(code)
    if code == one.code:
        raise Refused("unchanged", number=one.number)
    if test is not None and test.verdict.code in CLOSED:
        raise Refused(f"keep-{test.verdict.code}", number=one.number, step=test.number)
    scan = store.take(f"{one.number}/end")
    if test is None or scan.tree.code != code:
        raise Refused("not-retested", number=one.number)
    done = replace(
        one, state="kept", ended=time.time(), end=scan.tree.code, against=test.verdict.what == "revert",
        changed=dict(store.tree(f"{one.number}/base").changes(scan.tree)),
    )  # fmt: skip
    ledgers.write(store.root, ledger.with_round(done))
    return done, test


def revert(store: Store, reason: str = "") -> tuple[Round, Restored]:
    """Take the open round back: the state it started from, bytes, modes and all; what it was is kept beside."""
    settle(store)
    ledger = ledgers.read(store.root)
    one = _open(ledger)
    tree = store.take(f"{one.number}/end").tree
    test = one.retest(tree.code)
    done = replace(
        one, state="reverted", ended=time.time(), end=tree.code, reason=reason,
        against=test is not None and test.verdict.what == "keep",
        changed=dict(store.tree(f"{one.number}/base").changes(tree)),
    )  # fmt: skip
    made = restore(store, f"{one.number}/base", ledger.with_round(done).data())
    done = replace(done, saved=made.saved)
    ledgers.write(store.root, ledgers.read(store.root).with_round(done))
    return done, made


def restore_to(store: Store, word: str) -> Restored:
    """Put back the state of a round (``2``), of a retest (``2.1``), or what a restore replaced (``before-…``)."""
    settle(store)
    return restore(store, named(store, word))


def named(store: Store, word: str) -> str:
    """The state a word means; Refused where there is none."""
    step = _STEP.match(word)
    name = f"saved/{word}" if word.startswith("before-") else f"{word}/end" if word.isascii() and word.isdigit() else ""
    if step is not None:
        name = f"{step[1]}/step-{step[2]}"
    if not name or not store.has(name):
        raise Refused("no-state", name=word)
    return name


def _open(ledger: Ledger) -> Round:
    if ledger.open is None:
        raise Refused("none-open")
    return ledger.open
