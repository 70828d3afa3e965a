"""The worker: what is urgent first, of a document only the newest, and one failure costs one job."""

from __future__ import annotations

import threading

import pytest

from opdev.lsp.worker import Priority, Worker
from opdev.rules.engine import Cancelled

WAIT = 20


class Gate:
    """A job that says when it began and ends when let, or when it is told to stop."""

    def __init__(self):
        self.begun, self.go = threading.Event(), threading.Event()
        self.stopped = False
        self.runs = 0

    def __call__(self, stop):
        self.runs += 1
        self.begun.set()
        while not self.go.wait(0.005):
            if stop():
                self.stopped = True
                raise Cancelled


@pytest.fixture
def worker():
    made = Worker()
    yield made
    made.close()


def after_all(worker):
    done = threading.Event()
    worker.submit("last", Priority.SCAN, lambda _: done.set())
    assert done.wait(WAIT)


def test_of_one_key_only_the_newest_waits(worker):
    gate, ran = Gate(), []
    worker.submit("gate", Priority.DOCUMENT, gate)
    assert gate.begun.wait(WAIT)
    for version in range(50):
        worker.submit("a", Priority.DOCUMENT, lambda _, version=version: ran.append(version))
    gate.go.set()
    after_all(worker)

    assert ran == [49]


def test_the_urgent_goes_first_and_equals_in_order(worker):
    gate, ran = Gate(), []
    worker.submit("gate", Priority.DOCUMENT, gate)
    assert gate.begun.wait(WAIT)
    for name, priority in (("scan", 3), ("file", 2), ("b", 0), ("operator", 1), ("c", 0)):
        worker.submit(name, Priority(priority), lambda _, name=name: ran.append(name))
    gate.go.set()
    after_all(worker)

    assert ran == ["b", "c", "operator", "file", "scan"]


def test_the_background_steps_aside_and_comes_back(worker):
    gate, ran = Gate(), []
    worker.submit("scan", Priority.SCAN, gate)
    assert gate.begun.wait(WAIT)
    worker.submit("document", Priority.DOCUMENT, lambda _: (ran.append("document"), gate.go.set()))
    after_all(worker)

    assert gate.stopped
    assert (ran, gate.runs) == (["document"], 2)


def test_a_newer_version_supersedes_once_so_that_typing_never_starves(worker):
    first, second, third = Gate(), Gate(), Gate()
    worker.submit("a", Priority.DOCUMENT, first)
    assert first.begun.wait(WAIT)
    worker.submit("a", Priority.DOCUMENT, second)
    assert second.begun.wait(WAIT)
    assert first.stopped
    worker.submit("a", Priority.DOCUMENT, third)
    second.go.set()
    third.go.set()
    after_all(worker)

    assert not second.stopped
    assert third.runs == 1


def test_a_job_that_fails_costs_itself(worker, caplog):
    ran = []
    worker.submit("bad", Priority.DOCUMENT, lambda _: 1 // 0)
    worker.submit("good", Priority.DOCUMENT, lambda _: ran.append(1))
    after_all(worker)

    assert ran == [1]
    assert "bad failed" in caplog.text


def test_what_nobody_wants_any_more_does_not_run(worker):
    gate, ran = Gate(), []
    worker.submit("a", Priority.DOCUMENT, gate)
    assert gate.begun.wait(WAIT)
    worker.submit("b", Priority.DOCUMENT, lambda _: ran.append(1))
    worker.forget("b")
    worker.forget("a")
    after_all(worker)

    assert gate.stopped
    assert ran == []
