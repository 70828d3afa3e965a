"""Output on its way: pieces to lines, floods without loss, the same events live and afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest
from fakes import VALIDATOR, checked, of, until
from hypothesis import given, settings
from hypothesis import strategies as st

from opdev.runs import events
from opdev.runs.events import Events
from opdev.runs.ids import new_id
from opdev.runs.lines import LONGEST, LineBuffer, text_of
from opdev.runs.parsers import Where
from opdev.runs.parsers import make as parsers
from opdev.runs.reader import Reader, follow, replay
from opdev.runs.recording import Recording
from opdev.runs.render import Renderer
from opdev.runs.store import Run

WORDS = [
    "PE 0: PASS",
    "错误：没有那个文件",
    "ünïcode",
    "\x1b[31mred\x1b[0m",
    "",
    "a" * 300,
    "[PERF] pe=0 e2e_us=1.5",
    "\tx",
]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(p % (len(data) + 1) for p in places)})
    return [data[a:b] for a, b in pairwise(edges)]


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=12),
    st.lists(st.integers(0, 5000), max_size=30),
    st.sampled_from(["utf-8", "gb18030"]),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
def test_lines_are_the_same_however_they_were_cut(words, places, encoding, end):
    data = b"".join(word.encode(encoding) + end for word in words)
    buffer = LineBuffer()

    out = b"".join([*(buffer.feed(piece) for piece in cut(data, places)), buffer.close()])

    plain = [word.replace("\x1b[31m", "").replace("\x1b[0m", "") for word in words]
    assert [text_of(line) for line in out.split(b"\n")[:-1]] == plain


def test_a_line_without_end_is_cut_at_last():
    buffer = LineBuffer()

    assert buffer.feed(b"x" * (LONGEST + 1)) == b"x" * (LONGEST + 1) + b"\n"
    assert buffer.close() == b""


@pytest.mark.parametrize("data", [b"\xc4\xe3\xba\xc3", b"\xff\xfe\x00", "你好".encode(), b"\xe4\xbd"])
def test_any_bytes_become_text(data):
    assert isinstance(text_of(data), str)


def written(tmp_path, lines: bytes) -> Run:
    folder = tmp_path / new_id()
    folder.mkdir()
    (folder / "events.jsonl").write_bytes(lines)
    return Run(folder.name, str(folder))


def test_the_end_of_a_line_a_runner_died_in_is_kept_back(tmp_path):
    run = written(tmp_path, b'{"type":"note","seq":0}\n{"type":"no')
    reader = Reader(run)

    assert [e["seq"] for e in reader.more()] == [0]
    with open(run.events, "ab") as stream:
        stream.write(b'te","seq":1}\n')
    assert [e["seq"] for e in reader.more()] == [1]
    assert reader.damaged == 0


def test_lines_that_are_no_event_are_counted_and_passed_over(tmp_path):
    reader = Reader(written(tmp_path, b'[1]\n{"type":3}\n\xff\n{"type":"x"}\n' + b"[" * 100000 + b"\n"))

    assert list(reader.more()) == [{"type": "x"}]
    assert reader.damaged == 4


def test_a_follower_sees_every_event_once_while_they_are_written(tmp_path):
    run = written(tmp_path, b"")
    writer = Events(run.events, run.id, "host", "npu")

    def write():
        for number in range(3000):
            writer.extend([("note", {"text": {"zh": "第", "en": f"{number}"}})] * (number % 3 + 1))
        writer.add("run-ended", outcome="passed", seconds=1.0)

    thread = threading.Thread(target=write)
    thread.start()
    seen = list(follow(run))
    thread.join()

    assert [e["seq"] for e in seen] == list(range(len(seen)))
    assert seen == replay(run)
    assert seen[-1]["type"] == "run-ended"


def test_the_schema_is_one_and_knows_every_type():
    jsonschema.Draft202012Validator.check_schema(events.schema())
    kinds = [branch["properties"]["type"]["const"] for branch in events.schema()["oneOf"]]

    assert sorted(kinds) == sorted(events.schema()["properties"]["type"]["enum"])
    for branch in events.schema()["oneOf"]:
        assert set(branch.get("required", ())) <= set(branch["properties"])


@pytest.mark.parametrize(
    "event",
    [{"type": "nothing"}, {"type": "gate", "phase": "9", "state": "open", "checks": []}, {"type": "step-ended", "phase": "3", "task": "x", "result": "PASS", "seconds": 1}],
)  # fmt: skip
def test_the_schema_refuses(event):
    whole = {"v": 1, "seq": 0, "time": 1.0, "run": new_id(), "executor": "host", "backend": "npu", **event}

    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(whole)


FLOOD = """\
import os, sys, time
lines = [f"line {n:07d} 数据 PE {n % 8}: some text that nobody parses, but somebody may read later".encode() for n in range(N)]
for start in range(0, N, 500):
    os.write(1, b"\\n".join(lines[start : start + 500]) + b"\\n")
    os.write(2, b"\\n".join(lines[start : start + 50]) + b"\\n")
print("PASS: all 2 PE outputs match")
"""
LINES = 200_000


def test_a_flood_is_taken_without_loss(make):
    op = make(run="mkdir -p output; exec python3 flood.py\n")
    op.write("flood.py", FLOOD.replace("(N)", f"({LINES})").replace(", N,", f", {LINES},"))

    run, found = op.go()

    (task,) = {e["task"] for e in of(found, "output") if "smoke" in e["task"]}
    for stream, count in (("stdout", LINES + 1), ("stderr", LINES // 10)):
        data = Path(run.folder, "logs", f"{task}.{stream}.log").read_bytes()
        spans = [(e["start"], e["end"]) for e in of(found, "output") if (e["task"], e["stream"]) == (task, stream)]
        assert data.count(b"\n") == count
        # The events speak of every byte, once, in order.
        assert [a for a, _ in spans] == [0, *(b for _, b in spans[:-1])]
        assert spans[-1][1] == len(data)
    assert of(found, "step-ended")[-1]["result"] == "pass"


def test_fifty_thousand_lines_a_second_are_half_of_what_it_can(tmp_path):
    """By the processor's time: machines that run tests are busy."""
    data = b"".join(
        f"line {n:07d} 数据 PE {n % 8}: some text that nobody parses, but may read later\n".encode()
        for n in range(LINES)
    )
    writer = Events(str(tmp_path / "events.jsonl"), new_id(), "host", "npu")
    recording = Recording(writer, str(tmp_path), "01-smoke", parsers(("checker", "shmem", "sim"), Where(str(tmp_path))))

    begun = time.process_time()
    for start in range(0, len(data), 1 << 16):
        recording.output("stdout", data[start : start + (1 << 16)])
    recording.close()

    assert LINES / (time.process_time() - begun) > 50_000
    assert (tmp_path / "01-smoke.stdout.log").read_bytes() == data


@pytest.mark.parametrize("size", [1, 40, 1 << 16])
def test_what_a_checker_said_of_a_case_is_told_before_its_end(tmp_path, size):
    data = b"".join(
        b"PE 0: %s (8 elements)\n[CASE] id=%s result=%s\n" % (word, name, word)
        for name, word in ((b"a", b"PASS"), (b"b", b"FAIL"), (b"c", b"PASS"))
    )
    path = tmp_path / "events.jsonl"
    writer = Events(str(path), new_id(), "host", "npu")
    recording = Recording(writer, str(tmp_path), "02-matrix", parsers(("matrix", "checker"), Where(str(tmp_path))))
    for start in range(0, len(data), size):
        recording.output("stdout", data[start : start + size])
    recording.close()

    told = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(e["type"], e.get("case"), e["verdict"]) for e in told if e["type"] in ("check", "case")] == [
        ("check", None, "PASS"), ("case", "a", "PASS"), ("check", None, "FAIL"), ("case", "b", "FAIL"),
        ("check", None, "PASS"), ("case", "c", "PASS"),
    ]  # fmt: skip


def test_the_replay_shows_what_the_live_view_showed(make):
    script = """\
mkdir -p output
for n in 1 2 3 4 5; do printf 'half of line %s, ' $n; sleep 0.05; printf '另一半\\n'; printf '\\033[31mred %s\\033[0m\\n' $n >&2; done
echo 'PE 0: FAIL (8 elements)'
exit 1
"""
    op = make(run=script)
    front = subprocess.run(
        [sys.executable, "-m", "opdev.cli", "run", "3", "--lang", "zh"], cwd=op.root, capture_output=True, check=False
    )

    again = op.cli("show", "last", "--replay", "--lang", "zh")

    assert front.stdout.decode() == again.stdout
    assert "half of line 3, 另一半" in again.stdout
    assert "| red 5\n" in again.stdout


def test_an_event_is_there_while_the_step_that_printed_its_line_still_runs(make):
    op = make(
        run='echo \'[PERF] pe=0 e2e_us=2.5\'\nfor i in $(seq 1000); do test -f "$(dirname "$0")/../heard" && exit 0; sleep 0.02; done\nexit 7\n'
    )
    op.write("scripts/perf.sh", (op.root / "scripts" / "run.sh").read_text())
    started = op.start("6")
    ended = None
    for event in follow(started.run):
        if event["type"] == "perf":
            op.write("heard", "")
        if event["type"] == "step-ended" and event["step"] == "perf":
            ended = event["exit"]
    started.process.wait(60)

    # It would have given up with 7 if nobody had heard it.
    assert ended == 0


def test_rendering_needs_no_raw_log(make, tmp_path):
    op = make()
    run, found = op.go()
    for path in Path(run.folder, "logs").iterdir():
        path.unlink()
    renderer = Renderer(Reader(run), "en")

    text = "".join(renderer.text(event) for event in found)

    assert "Phase 3: code and build" in text


def test_events_are_plain_json_lines(make):
    run, found = make().go()

    raw = Path(run.events).read_bytes()
    assert raw.endswith(b"}\n")
    assert [json.loads(line) for line in raw.splitlines()] == found
    assert checked(run) == found
    until(lambda: run.status.ended is not None)
