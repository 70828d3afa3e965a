"""The cycle collector runs in pauses, and what gathers without any pause is bounded."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from opdev.lsp import collecting
from opdev.lsp.collecting import Collector


class Ring:
    """Garbage only the collector finds."""

    def __init__(self) -> None:
        self.me = self


@pytest.fixture(autouse=True)
def switched_off() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def ring() -> weakref.ref[Ring]:
    return weakref.ref(Ring())


def fill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "_WORTH", 0)
    monkeypatch.setattr(collecting, "_TOO_MANY", 0)


def test_work_alone_collects_nothing() -> None:
    gone = ring()
    Collector().after_work()
    assert gone() is not None


def test_a_pause_takes_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    fill(monkeypatch)
    gone = ring()
    Collector().in_pause()
    assert gone() is None


def test_too_much_is_taken_without_a_pause() -> None:
    gone = ring()
    keep: list[list[int]] = [[] for _ in range(collecting._TOO_MANY + 1)]
    Collector().after_work()
    assert gone() is None
    assert keep


def test_what_grew_old_goes_in_the_end_without_any_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    fill(monkeypatch)
    collector, held = Collector(), Ring()
    gone = weakref.ref(held)
    for _ in range(30):
        collector.after_work()
    del held
    for _ in range(2000):
        collector.after_work()
        if gone() is None:
            break
    assert gone() is None


def test_a_long_rest_takes_what_grew_old(monkeypatch: pytest.MonkeyPatch) -> None:
    fill(monkeypatch)
    collector, held = Collector(), Ring()
    gone = weakref.ref(held)
    for _ in range(30):
        collector.in_pause()
    del held
    collector.at_rest()
    assert gone() is None


def test_python_is_left_alone_while_its_own_collector_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    fill(monkeypatch)
    gc.enable()
    gc.set_threshold(0)
    gone = ring()
    collector = Collector()
    collector.in_pause()
    collector.after_work()
    assert gone() is not None
    gc.set_threshold(700, 10, 10)
