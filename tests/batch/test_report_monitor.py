"""A batch watched: every frame fits, a dead batch is never said to run, and the terminal is as it was afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from needed import package
from reports_made import calls

from opdev import ourselves
from opdev.bench import monitor, watching
from opdev.bench.model import BenchError
from opdev.cli import main
from opdev.columns import clip, width
from opdev.runs.process import identity


def moment(seconds):
    return f"2026-01-02 03:{seconds // 60:02}:{seconds % 60:02}"


NOW = time.mktime(time.strptime("2026-01-02 03:01:40", "%Y-%m-%d %H:%M:%S"))


def operator(name, *, pypto=None, verifier=None, **more):
    blank = dict.fromkeys(("pid", "started_at", "ended_at", "duration_sec", "status"))
    return {
        "case_id": name, "level": "level1", "op_name": name, "phase": "pending", "phase_status": "pending", "started_at": None,
        "ended_at": None, "duration_sec": None, "result_status": None, "pypto_status": None, "verifier_status": None,
        "phases": {"pypto": {**blank, **(pypto or {})}, "verifier": {**blank, **(verifier or {})}}, **more,
    }  # fmt: skip


def batch(**more):
    return {
        "main_status": monitor.RUNNING, "artifact_root_dir": "/data/批次", "started_at": moment(0), "updated_at": moment(90),
        "timeout_sec": 7200, "backend": "sim",
        "operators": [
            operator(
                "19_ReLU", phase="done", result_status="success", started_at=moment(1), duration_sec=29.2,
                pypto={"started_at": moment(1), "ended_at": moment(20)}, verifier={"started_at": moment(20), "ended_at": moment(30)},
            ),
            operator(
                "20_LeakyReLU_with_a_long_name", phase="verifier", pypto_status="success", started_at=moment(1),
                pypto={"started_at": moment(1), "ended_at": moment(40)}, verifier={"started_at": moment(50)},
            ),
            operator("21_名字很长很长很长很长的算子", phase="pypto", pypto={"started_at": moment(33)}, started_at=moment(33)),
            operator("22_late", phase="done", result_status="pypto_failed", pypto_status="timeout", duration_sec=7200),
            operator("23_\x1b[31mevil\n"),
        ],
        **more,
    }  # fmt: skip


ZH = """\
正在进行  已用 0:01:40  /data/批次
结束 2/5：通过 1，未通过 1；进行中 2，未开始 1
backend: sim（模拟）：结果不是在 NPU 上得到的，没有性能数据

   #  用例                      阶段        PyPTO 开始         PyPTO 用时/结束   验证开始           验证用时/结束            秒  状态
----  ------------------------  ----------  -----------------  ----------------  -----------------  ----------------  ---------  ----------------------
   1  19_ReLU                   done        01-02 03:00:01     01-02 03:00:20    01-02 03:00:20     01-02 03:00:30           29  已完成（模拟）
   2  20_LeakyReLU_with_a_lon…  verifier    01-02 03:00:01     01-02 03:00:40    01-02 03:00:50     50s                      99  Verifier验证中（模拟）
   3  21_名字很长很长很长很长…  pypto       01-02 03:00:33     67s               -                  -                        67  PyPTO生成中
   4  22_late                   done        -                  -                 -                  -                      7200  PyPTO超时
   5  23_�[31mevil              pending     -                  -                 -                  -                         -  未开始
"""
EN = """\
interrupted  0:01:30 elapsed  /data/批次
ended 2/5: passed 1, not passed 1; interrupted 2, not started 1
backend: sim (simulated): results are not from an NPU, and there is no performance
the batch was interrupted: its process is gone. Run the same folder again to go on

   #  Operator                  Phase       PyPTO Elap/End          Sec  Status
----  ------------------------  ----------  ----------------  ---------  ----------------------
   1  19_ReLU                   done        01-02 03:00:20           29  done (simulated)
   2  20_LeakyReLU_with_a_lon…  verifier    01-02 03:00:40            -  interrupted
   3  21_名字很长很长很长很长…  pypto       -                         -  interrupted
   4  22_late                   done        -                      7200  PyPTO timed out
   5  23_�[31mevil              pending     -                         -  not started
"""


def test_a_frame_in_chinese():
    assert "\n".join(monitor.frame(batch(), 160, NOW, "zh")) + "\n" == ZH


def test_a_narrow_frame_in_english_of_a_dead_batch():
    assert "\n".join(monitor.frame(batch(main_status=monitor.INTERRUPTED), 100, NOW, "en")) + "\n" == EN


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({}, "not-started"), ({"phase": "prepare"}, "preparing"), ({"phase": "pypto", "pypto_status": "skipped"}, "pypto-skipped"),
        ({"phase": "pypto", "pypto": {"started_at": moment(0)}}, "generating"), ({"phase": "verifier"}, "going"),
        ({"result_status": "pypto_failed"}, "pypto-failed"), ({"result_status": "baseline_failed"}, "baseline-failed"),
        ({"result_status": "verify_error"}, "verify-error"), ({"result_status": "verifier_skipped"}, "verify-skipped"),
    ],
)  # fmt: skip
def test_what_an_operator_is_at(more, kind):
    assert monitor.dev_status(operator("x", **more), NOW, 7200.0) == kind


@pytest.mark.parametrize(("after", "kind"), [(5399, "generating"), (5400, "long"), (7199, "long"), (7200, "timeout")])
def test_a_long_generation_is_said_to_be(after, kind):
    one = operator("x", phase="pypto", pypto={"started_at": moment(0)})

    assert monitor.dev_status(one, NOW - 100 + after, 7200.0) == kind


def test_what_does_not_fit_a_terminal_is_counted_and_what_runs_is_shown():
    operators = [operator(f"{n}_x", result_status="success", phase="done") for n in range(100)]
    operators.append(operator("100_now", phase="pypto", pypto={"started_at": moment(0)}))
    lines = monitor.frame(batch(operators=operators), 120, NOW, "en", 20)

    assert len(lines) == 20
    assert lines[-1] == "… 88 more cases"
    assert any("100_now" in line for line in lines)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*batch(), *operator("x")]), inner, max_size=8),
    max_leaves=30,
)  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.sampled_from(list(batch())), JSON), JSON, st.integers(1, 200), st.integers(4, 40))
def test_every_frame_of_any_state_fits(state, one, columns, rows):
    operators = state.get("operators")
    state["operators"] = [*(operators if isinstance(operators, list) else ()), one, operator("宽" * 40)]
    for lang in ("zh", "en"):
        for line in monitor.frame(state, columns, NOW, lang, rows):
            assert width(line) <= columns
            assert line.isprintable()


@given(st.text(), st.integers(0, 30))
def test_a_clipped_text_fits(text, columns):
    assert width(clip(text, columns)) <= columns


def test_a_frame_costs_by_its_cases_alone():
    """Counted in calls: five times as many cases are not much more than five times the work."""
    few, many = (
        batch(
            operators=[
                {**one, "case_id": f"{n}_{one['case_id']}"} for n in range(count) for one in batch()["operators"]
            ]
        )
        for count in (40, 200)
    )
    frame = lambda state: monitor.frame(state, 160, NOW, "zh")  # noqa: E731
    frame(many)

    assert calls(lambda: frame(many)) < 6 * calls(lambda: frame(few))


@pytest.fixture
def root(tmp_path):
    (tmp_path / "state").mkdir()
    return tmp_path


def write(root, state):
    (root / "state/state.json").write_text(json.dumps(state), encoding="utf-8")


def test_a_batch_whose_process_is_gone_is_interrupted(root, capsys):
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    dead = {**asdict(identity()), "pid": int(done.stdout), "start": 1}
    write(root, batch(main_pid=dead["pid"], main_identity=dead))

    assert main(["bench", "monitor", str(root), "--once", "--lang", "zh"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("已中断")
    assert "正在进行" not in out
    assert "生成中" not in out


def test_a_number_that_another_process_has_now_is_not_the_batch(root):
    write(root, batch(main_identity={**asdict(identity()), "start": identity().start + 1}))

    assert watching.Watched(str(root)).now()["main_status"] == monitor.INTERRUPTED


@pytest.mark.parametrize(("age", "status"), [(5, monitor.RUNNING), (3600, monitor.INTERRUPTED)])
def test_a_state_with_a_number_alone_is_dead_when_nobody_writes_it_any_more(root, age, status):
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    updated = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time.time() - age))
    write(root, batch(main_pid=int(done.stdout), updated_at=updated))

    assert watching.Watched(str(root)).now()["main_status"] == status


def test_a_batch_on_another_machine_is_not_said_to_be_dead(root):
    far = {**asdict(identity()), "host": "node7", "boot": "another"}
    write(root, batch(main_identity=far))
    found = watching.Watched(str(root)).now()

    assert found["main_status"] == monitor.RUNNING
    assert "node7" in found["monitor_note"]["en"]


@pytest.mark.parametrize("damage", ["{", "", "[]", None])
def test_a_damaged_state_shows_the_last_good_one_and_says_so(root, damage):
    write(root, batch(main_identity=asdict(identity())))
    watched = watching.Watched(str(root))
    watched.now()
    path = root / "state/state.json"
    path.unlink() if damage is None else path.write_text(damage, encoding="utf-8")
    state = watched.now()

    assert len(state["operators"]) == 5
    assert any("state.json" in line for line in monitor.frame(state, 160, NOW, "zh"))


def test_a_state_that_was_never_whole_is_an_error_with_its_place(root):
    (root / "state/state.json").write_text('{\n "main_pid": 1,\n', encoding="utf-8")
    with pytest.raises(BenchError) as error:
        watching.Watched(str(root)).now()
    assert (error.value.key, error.value.values["line"]) == ("r-damaged", 3)
    assert main(["bench", "monitor", str(root / "none")]) == 2


def test_for_programs_it_is_json(root, capsys):
    write(root, batch(main_identity=asdict(identity())))

    assert main(["bench", "monitor", str(root), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["dev_status"] for one in found["operators"]][0::4] == ["已完成", "未开始"]


@contextmanager
def on_a_terminal(root):
    """The monitor on a terminal of 100 by 20, and its screen as a person sees it."""
    pyte = package("pyte")
    outside, inside = os.openpty()
    import fcntl
    import struct
    import termios

    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 100, 0, 0))
    argv = ourselves.argv("opdev.cli", ["bench", "monitor", str(root), "--interval", "0.1", "--lang", "en"])
    process = subprocess.Popen(argv, stdin=inside, stdout=inside, stderr=inside, start_new_session=True)
    os.close(inside)
    screen = pyte.Screen(100, 20)
    stream = pyte.ByteStream(screen)
    everything = bytearray()

    def read_until(found):
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                data = os.read(outside, 65536)
            except OSError:
                data = b""
            everything.extend(data)
            stream.feed(data)
            if found("\n".join(screen.display)) or not data:
                return
        raise AssertionError("\n".join(screen.display))

    with closing(os.fdopen(outside, "rb", buffering=0)) as terminal:
        read_until.close = terminal.close
        try:
            yield process, read_until, everything
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()


def test_on_a_terminal_it_follows_the_batch_and_ends_with_it(root):
    write(root, batch(main_identity=asdict(identity())))
    with on_a_terminal(root) as (process, read_until, everything):
        read_until(lambda shown: "active 2" in shown)
        write(root, batch(main_status=monitor.FINISHED, operators=batch()["operators"][:1]))
        read_until(lambda shown: "finished" in shown)
        read_until(lambda _: b"\x1b[?1049l" in everything)

        assert process.wait(20) == 0
    assert everything.count(b"\x1b[?1049h") == everything.count(b"\x1b[?1049l") == 1
    assert everything.rindex(b"finished") > everything.index(b"\x1b[?1049l")  # The last frame stays.
    assert b"\x1b[2J" not in everything  # Nothing is cleared before it is drawn.


def test_a_terminal_that_is_gone_ends_the_monitor(root):
    write(root, batch(main_identity=asdict(identity())))
    with on_a_terminal(root) as (process, read_until, _):
        read_until(lambda shown: "active 2" in shown)
        read_until.close()

        assert process.wait(20) not in (0, 3)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ending_the_monitor_leaves_the_terminal_right_and_the_batch_alone(root, number, status):
    write(root, batch(main_identity=asdict(identity())))
    with on_a_terminal(root) as (process, read_until, everything):
        read_until(lambda shown: "active 2" in shown)
        process.send_signal(number)
        read_until(lambda _: b"\x1b[?1049l" in everything)

        assert process.wait(20) == status
    assert everything.count(b"\x1b[?1049h\x1b[?25l") == everything.count(b"\x1b[?25h\x1b[?1049l") == 1
    assert json.loads((root / "state/state.json").read_text(encoding="utf-8"))["main_status"] == monitor.RUNNING
