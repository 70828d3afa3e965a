"""Ids, folders, status files, retention."""

from __future__ import annotations

import json
import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from opdev.runs import status, store
from opdev.runs.ids import is_id, new_id
from opdev.runs.process import Identity, alive, identity
from opdev.runs.status import Status
from opdev.runs.store import Limits


def test_ids_sort_by_time_and_never_meet():
    found = [new_id(1_700_000_000 + n / 1000) for n in range(0, 5000, 7)]
    same = {new_id(1_700_000_000) for _ in range(2000)}

    assert sorted(found) == found
    assert len(same) > 1990
    assert all(is_id(i) for i in found)
    assert not is_id("../../etc")
    assert not is_id(f"{found[0]}/x")


def test_many_at_once_get_folders_of_their_own(tmp_path):
    made = []
    threads = [
        threading.Thread(target=lambda: made.extend(store.create(str(tmp_path), {}) for _ in range(20)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({run.id for run in made}) == 160
    assert [r.id for r in store.runs(str(tmp_path))] == sorted(r.id for r in made)
    assert (tmp_path / ".opdev" / ".gitignore").read_text() == "*\n"


def state(run, word="passed", **more):
    found = Status(run.id, word, "demo", "/x", "3", "host", "npu", time.time(), runner=identity(), **more)
    status.write(run.folder, found)
    return found


def test_a_status_is_read_as_it_was_written(tmp_path):
    run = store.create(str(tmp_path), {"request": "3"})
    written = state(run, "running", message="数据", n_pes=8)

    assert run.status == written
    assert run.plan["request"] == "3"
    assert written.now == "running"
    assert os.listdir(run.folder).count("status.json") == 1


def test_readers_never_see_half_a_status(tmp_path):
    run = store.create(str(tmp_path), {})
    state(run, "running", message="x" * 100_000)
    stop = threading.Event()

    def rewrite():
        count = 0
        while not stop.is_set():
            state(run, "running", message=str(count) * 50_000)
            count += 1

    thread = threading.Thread(target=rewrite)
    thread.start()
    seen = [run.status is not None for _ in range(300)]
    stop.set()
    thread.join()

    assert all(seen)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"state":"nobody"}', '{"state":"passed"}', '{"state":"running","runner":{"pid":1}}', "[" * 100_000])  # fmt: skip
def test_a_damaged_status_is_none(tmp_path, text):
    run = store.create(str(tmp_path), {})
    Path(run.folder, "status.json").write_text(text)

    assert run.status is None
    assert not store.mend(run)


def test_who_is_alive():
    me = identity()

    assert alive(me) is True
    assert alive(replace(me, start=me.start + 1)) is False
    assert alive(replace(me, boot="another")) is False
    assert alive(replace(me, space="pid:[1]")) is None
    assert alive(replace(me, boot="another", host="elsewhere")) is None
    assert alive(Identity(2**22 + 1, 1, me.boot, me.host, me.space)) is False


def aged(root, count, days=0.0, size=0, word="passed"):
    made = []
    for number in range(count):
        run = store.create(str(root), {})
        state(run, word)
        Path(run.folder, "logs", "x.log").write_bytes(b"x" * size)
        os.utime(run.folder, (time.time() - days * 86400 - count + number,) * 2)
        made.append(run)
    return made


def test_the_oldest_go_when_there_are_too_many(tmp_path):
    made = aged(tmp_path, 6)

    assert store.prune(str(tmp_path), Limits(runs=4, size=0, days=0)) == [r.id for r in made[:2]]
    assert [r.id for r in store.runs(str(tmp_path))] == [r.id for r in made[2:]]


def test_the_oldest_go_when_they_are_too_large(tmp_path):
    made = aged(tmp_path, 4, size=100_000)

    assert store.prune(str(tmp_path), Limits(runs=0, size=150_000, days=0)) == [r.id for r in made[:2]]


def test_the_old_go(tmp_path):
    made = aged(tmp_path, 3, days=10)

    assert store.prune(str(tmp_path), Limits(runs=0, size=0, days=5)) == [r.id for r in made[:2]]


def test_what_runs_and_what_is_newest_stays(tmp_path):
    made = aged(tmp_path, 3, days=10, word="running")

    assert store.prune(str(tmp_path), Limits(runs=1, size=1, days=1)) == []
    assert len(store.runs(str(tmp_path))) == len(made)


def test_runs_are_found_by_a_part_of_their_id(tmp_path):
    made = aged(tmp_path, 3)
    roots = [str(tmp_path)]

    assert store.find(roots, "last") == [made[2]]
    assert store.find(roots, made[0].id) == [made[0]]
    assert store.find(roots, made[1].id[-6:]) == [made[1]]
    assert store.find(roots, "nothing") == []


def test_a_plan_that_cannot_be_read_is_empty(tmp_path):
    run = store.create(str(tmp_path), {"a": 1})
    Path(run.folder, "plan.json").write_text(json.dumps([1]))

    assert run.plan == {}
