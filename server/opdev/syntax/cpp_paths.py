"""All paths through one function, for checks that say "on every path" or "on some path".

A check gives a small state and how calls change it.  Conditions that are tested twice keep their
answer (``if (timed) START … if (timed) END``); loops run to a fixed point.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from opdev.syntax.cpp_flow import Block, Branch, Event, Jump, Loop, Step, Switch
from opdev.syntax.cpp_text import atoms

S = TypeVar("S", bound=Hashable)
_NAME = re.compile(r"[A-Za-z_]\w*")
Facts = frozenset[tuple[str, bool]]


class _Ends(Generic[S]):
    """States that leave a block, by how."""

    __slots__ = ("broke", "normal", "went_on")

    def __init__(self, normal: set[tuple[S, Facts]]) -> None:
        self.normal = normal
        self.broke: set[tuple[S, Facts]] = set()
        self.went_on: set[tuple[S, Facts]] = set()


class TooMany(Exception):  # noqa: N818 - an outcome, not an error
    """More states than are worth following."""


def explore(
    block: Block,
    start: S,
    step: Callable[[Event, S], S],
    *,
    repeated: frozenset[str] = frozenset(),
    enter: Callable[[Branch, int, S], S] | None = None,
    loops_run: bool = False,
    most: int = 300,
) -> list[tuple[Jump | None, S]] | None:
    """All (way out, state) pairs of a block; a way out of None is its end.

    ``step`` maps a state over a call, ``enter`` over the choice of an arm; both must keep states
    few.  ``loops_run`` leaves out the path on which a loop's body never runs.  Conditions in
    ``repeated`` keep their answer until a name in them is assigned.  None when there are too many
    states.
    """
    runner = _Runner(step, enter, repeated, loops_run, most)
    try:
        ends = runner.block(block, {(start, frozenset())})
    except TooMany:
        return None
    rest = {state for group in (ends.normal, ends.broke, ends.went_on) for state, _ in group}
    return [*runner.exits, *((None, state) for state in rest)]


class _Runner(Generic[S]):
    def __init__(
        self,
        step: Callable[[Event, S], S],
        enter: Callable[[Branch, int, S], S] | None,
        repeated: frozenset[str],
        loops_run: bool,
        most: int,
    ) -> None:
        self.on_event, self.enter, self.repeated = step, enter, repeated
        self.loops_run, self.most = loops_run, most
        self.exits: list[tuple[Jump | None, S]] = []

    def block(self, block: Block, states: set[tuple[S, Facts]]) -> _Ends[S]:
        ends = _Ends(states)
        for item in block:
            if not ends.normal:
                break
            if len(ends.normal) > self.most:
                raise TooMany
            if isinstance(item, Step):
                ends.normal = self.step(item, ends.normal)
            elif isinstance(item, Jump):
                self.jump(item, ends)
            else:
                inner = (
                    self.branch(item, ends.normal) if isinstance(item, Branch)
                    else self.loop(item, ends.normal) if isinstance(item, Loop)
                    else self.switch(item, ends.normal)
                )  # fmt: skip
                ends.normal = inner.normal
                ends.broke |= inner.broke
                ends.went_on |= inner.went_on
        return ends

    def step(self, step: Step, states: set[tuple[S, Facts]]) -> set[tuple[S, Facts]]:
        if not step.events and not step.assigned:
            return states
        out = set()
        for state, facts in states:
            now = state
            for event in step.events:
                now = self.on_event(event, now)
            out.add((now, _forget(facts, step.assigned)))
        return out

    def jump(self, jump: Jump, ends: _Ends[S]) -> None:
        if jump.kind == "break":
            ends.broke |= ends.normal
        elif jump.kind == "continue":
            ends.went_on |= ends.normal
        else:
            self.exits += [(jump, state) for state in {state for state, _ in ends.normal}]
        ends.normal = set()

    def branch(self, branch: Branch, states: set[tuple[S, Facts]]) -> _Ends[S]:
        out: _Ends[S] = _Ends(set())
        for index, arm in enumerate(branch.arms):
            learnt = [a for a in atoms(branch.cond, holds=index == 0) if a[0] in self.repeated]
            going = set()
            for state, facts in states:
                if any((atom, not value) in facts for atom, value in learnt):
                    continue
                entered = self.enter(branch, index, state) if self.enter is not None else state
                going.add((entered, facts | frozenset(learnt)))
            if going:
                ends = self.block(arm, going)
                out.normal |= ends.normal
                out.broke |= ends.broke
                out.went_on |= ends.went_on
        return out

    def switch(self, switch: Switch, states: set[tuple[S, Facts]]) -> _Ends[S]:
        out: _Ends[S] = _Ends(set() if switch.default else set(states))
        falling: set[tuple[S, Facts]] = set()
        for case in switch.cases:
            ends = self.block(case, states | falling)
            falling = ends.normal
            out.normal |= ends.broke
            out.went_on |= ends.went_on
        out.normal |= falling
        return out

    def loop(self, loop: Loop, states: set[tuple[S, Facts]]) -> _Ends[S]:
        out: _Ends[S] = _Ends(set())
        heads = {(state, _forget(facts, loop.assigned)) for state, facts in states}
        seen: set[tuple[S, Facts]] = set()
        first = True
        while heads:
            if not (first and loop.once):
                heads = self.step(loop.test, heads)
                if not loop.endless and not (first and self.loops_run):
                    out.normal |= heads
            heads -= seen
            if not heads:
                break
            seen |= heads
            if len(seen) > self.most:
                raise TooMany
            ends = self.block(loop.body, heads)
            out.normal |= ends.broke
            again = self.step(loop.update, ends.normal | ends.went_on)
            heads = {(state, _forget(facts, loop.assigned)) for state, facts in again}
            if loop.once and not loop.endless:
                out.normal |= self.step(loop.test, heads)
            first = False
        return out


def _forget(facts: Facts, assigned: frozenset[str]) -> Facts:
    if not facts or not assigned:
        return facts
    return frozenset(fact for fact in facts if assigned.isdisjoint(_NAME.findall(fact[0])))
