"""Whole batches through the command: six cases on two devices, what one case does never reaches another."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
import yaml
from run_made import bench, command, generator, gone, host, until

from opdev.bench import state


class Made:
    """A batch of six cases on two devices, generated and not verified."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.root, self.notes = folder, folder / "批次 1", folder / "notes"
        self.program = generator(self.notes)
        bench(folder / "bench", 6)
        self.config = {
            "bench_dir": "bench", "cases": "level1=", "devices": [0, 1], "output": {"root_dir": str(self.root)}, "monitor": {"poll_sec": 0.2},
            "pypto": {"incomplete_workflow_retry": 0, "timeout_sec": 60}, "verifier": {"skip": True, "backend": "sim"},
            "generator": {"command": list(command(self.program, "write"))},
        }  # fmt: skip

    def mode(self, mode: str) -> None:
        self.config["generator"]["command"] = list(command(self.program, mode))

    def words(self, *words: str) -> list[str]:
        path = self.folder / "batch.yaml"
        path.write_text(yaml.safe_dump(self.config, allow_unicode=True), encoding="utf-8")
        return [sys.executable, "-m", "opdev.cli", "bench", "run", "--config", str(path), "--lang", "en", *words]

    def start(self, *words: str, **more) -> subprocess.Popen:
        return subprocess.Popen(
            self.words("--format", "jsonl", *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more
        )

    def run(self, *words: str) -> tuple[int, list[dict], str]:
        child = self.start(*words)
        out, err = child.communicate(timeout=240)
        return child.returncode, [json.loads(line) for line in out.splitlines()], err

    def state(self) -> dict:
        return state.read(str(self.root)) or {}

    def result(self, number: int) -> dict:
        return json.loads((self.root / f"report/level1/{number}_op{number}/result.json").read_text(encoding="utf-8"))

    def started(self) -> list[list[str]]:
        path = self.notes / "started"
        return [line.split() for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []

    def inside(self) -> list[int]:
        """The processes that hang, as far as they have said so."""
        return [int(text) for path in self.notes.glob("in-*") if (text := path.read_text(encoding="ascii").strip())]

    def nothing_left(self) -> bool:
        return all(gone(int(pid)) for _, pid, _ in self.started())


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path)


def of(events, kind):
    return [one for one in events if one["event"] == kind]


def test_every_case_is_generated_on_a_device_and_recorded(made):
    status, events, err = made.run()

    # Nothing was verified, so nothing is a success.
    assert (status, err) == (1, "")
    assert [one["overall"] for one in of(events, "case")] == ["verifier_skipped"] * 6
    assert {device for _, _, device in made.started()} == {"0", "1"}
    for number in range(1, 7):
        found = made.result(number)
        assert (found["overall_status"], found["pypto_status"]) == ("verifier_skipped", "success")
    copies = made.root / "report/level1/1_op1/artifacts"
    assert (copies / "op1_impl.py").read_text(encoding="utf-8") == "# op1\n"
    assert (made.root / "ops/level1/1_op1/REQUIRE.md").exists()
    for name in ("summary.json", "summary.md", "summary.html", "meta.json"):
        assert (made.root / "report" / name).stat().st_size
    found = made.state()
    assert (found["main_status"], found["main_exit_code"], found["tokens"]) == ("已完成", 1, [])
    assert found["backend"] is None
    assert [one["result_status"] for one in found["operators"]] == ["verifier_skipped"] * 6
    assert made.nothing_left()


def test_a_second_run_keeps_what_was_decided_and_force_does_it_again(made):
    made.run()
    # Another implementation than the one that was recorded.
    (made.root / "ops/level1/2_op2/op2_impl.py").write_text("# other\n", encoding="utf-8")

    _, events, _ = made.run()

    assert [one["case"] for one in of(events, "kept")] == [f"level1/{n}_op{n}" for n in (1, 3, 4, 5, 6)]
    assert [one["case"] for one in of(events, "case")] == ["level1/2_op2"]
    assert len(made.started()) == 6

    made.run("--force")

    assert len(made.started()) == 12
    assert (made.root / "report/level1/1_op1/result.json.previous").exists()


def test_one_case_that_fails_in_every_way_leaves_the_others_alone(made):
    made.mode("orphan+partly+bad")
    (made.folder / "bench/level1/2_op2.py").write_text("this is no Python (\n", encoding="utf-8")
    made.config["cases"] = "level1=1:3"
    # A folder that cannot be made.
    (made.root / "ops/level1").mkdir(parents=True)
    (made.root / "ops/level1/3_op3").write_text("a file\n", encoding="utf-8")

    status, events, _ = made.run()

    assert status == 1
    assert [one["overall"] for one in of(events, "case")] == ["pypto_failed"] * 3
    assert made.result(3)["pypto_status"] == "exception"
    assert "3_op3" in made.result(3)["messages"]["pypto"]["en"]
    # What is wrong with a case is told as `opdev bench cases` tells it.
    assert "/bench/level1/2_op2.py:1:" in made.result(2)["messages"]["pypto"]["en"]
    assert ": syntax error: " in made.result(2)["messages"]["pypto"]["en"]
    assert made.result(1)["pypto_status"] == "artifact_missing"
    assert made.nothing_left()


def test_ctrl_c_ends_what_runs_and_the_same_command_goes_on(made):
    made.mode("once")
    child = made.start()
    until(lambda: len(made.inside()) == 2)

    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=240)

    assert child.returncode == 130
    assert json.loads(out.splitlines()[-1])["stopped"] is True
    assert made.nothing_left()
    found = made.state()
    assert (found["main_status"], found["main_exit_code"]) == ("未完成", 130)
    assert sum(one["result_status"] is None for one in found["operators"]) == 6
    assert sorted(one["dev_status"] for one in found["operators"]) == ["已中断"] * 2 + ["未开始"] * 4
    assert not list(made.root.glob("report/level1/*/result.json"))

    made.mode("write")
    _, events, _ = made.run()

    assert len(of(events, "case")) == 6


def test_ctrl_c_before_any_case_leaves_nothing_behind_either(made, tmp_path):
    (tmp_path / "slow").write_text(f'#!/bin/sh\necho $$ >"{made.notes}/in-slow"\nexec sleep 300\n', encoding="utf-8")
    (tmp_path / "slow").chmod(0o755)
    made.config["verifier"] = {"backend": "sim", "python": str(tmp_path / "slow")}
    child = made.start()
    until(lambda: (made.notes / "in-slow").exists() and made.inside())

    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=240)

    assert (child.returncode, err) == (130, "")
    assert not of([json.loads(line) for line in out.splitlines()], "trouble")
    assert all(gone(pid) for pid in made.inside())
    assert made.state()["main_status"] == "未完成"


def test_kill_9_leaves_nothing_running_and_the_next_one_takes_over(made):
    (made.notes / "hang-op3").touch()
    child = made.start()
    until(lambda: made.inside() and len(list(made.root.glob("report/level1/*/result.json"))) >= 4)

    child.kill()
    child.communicate()
    until(made.nothing_left)
    (made.notes / "hang-op3").unlink()
    (made.notes / "in-op3").unlink()
    assert made.state()["main_status"] == "正在进行"
    _, events, _ = made.run()

    assert of(events, "taken-over")
    done = [one["case"] for one in of(events, "case")]
    assert "level1/3_op3" in done
    assert len(of(events, "kept")) + len(done) == 6
    assert len(of(events, "kept")) >= 4


def test_two_batches_in_one_folder_are_refused(made):
    made.mode("hang")
    child = made.start()
    until(made.inside)

    status, _, err = made.run()
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=240)

    assert status == 2
    assert "runs in" in err
    assert child.returncode == 130


def test_a_detached_batch_is_stopped_by_its_folder(made):
    made.mode("hang")
    done = subprocess.run(made.words("--detach"), capture_output=True, text=True, timeout=240, check=False)
    until(made.inside)
    pid = made.state()["main_pid"]

    assert (done.returncode, str(made.root) in done.stdout) == (0, True)
    assert os.getsid(pid) != os.getsid(0)
    stop = [sys.executable, "-m", "opdev.cli", "bench", "stop", str(made.root), "--lang", "en"]
    ended = subprocess.run(stop, capture_output=True, text=True, timeout=240, check=False)

    assert (ended.returncode, ended.stdout) == (0, f"stopped: {made.root}\n")
    assert gone(pid)
    assert made.nothing_left()
    again = subprocess.run(stop, capture_output=True, text=True, timeout=240, check=False)
    assert again.returncode == 1


def test_a_detached_batch_that_cannot_begin_says_why(made):
    made.config["verifier"] = {"python": "no-such-python"}

    done = subprocess.run(made.words("--detach"), capture_output=True, text=True, timeout=240, check=False)

    assert (done.returncode, done.stdout) == (2, "")
    assert "no-such-python" in done.stderr
    assert made.state()["main_status"] == "未完成"


def test_a_device_that_does_not_work_is_left_out_and_without_any_nothing_begins(made):
    made.config["hosts"] = [{"name": "bad", "prefix": ["no-such-ssh"], "devices": [0]}, {"name": "", "devices": [7]}]
    made.config["cases"] = "level1=1,2"

    _, events, _ = made.run()

    assert [one["slot"] for one in of(events, "slot-out")] == ["bad:0"]
    assert "no-such-ssh" in of(events, "slot-out")[0]["message"]["en"]
    assert {device for _, _, device in made.started()} == {"7"}
    assert "no-such-ssh" in made.state()["preflight_message"]

    del made.config["hosts"][1]
    status, events, err = made.run("--force")

    assert (status, of(events, "case")) == (2, [])
    assert "no-such-ssh" in err


def test_a_batch_on_another_host_ends_there_when_it_is_killed(made, tmp_path):
    made.mode("stubborn+hang")
    with host(tmp_path, 4, 5) as there:
        made.config["hosts"] = [{"name": there.name, "prefix": list(there.prefix), "devices": list(there.devices)}]
        child = made.start()
        until(lambda: len(made.inside()) == 2)

        child.kill()
        child.communicate()

        until(made.nothing_left)
        assert {device for _, _, device in made.started()} == {"4", "5"}


def test_more_cases_than_devices_share_them_one_at_a_time(made):
    made.mode("alone+write")
    made.config |= {"devices": [5], "concurrency": 3, "cases": "level1=1:4"}

    made.run()

    assert [made.result(number)["pypto_status"] for number in range(1, 5)] == ["success"] * 4


def test_a_dry_run_says_what_it_would_do_and_writes_nothing(made):
    status, events, _ = made.run("--dry-run", "--cases", "level1=2:3")

    assert status == 0
    assert [one["case"] for one in of(events, "planned")] == ["level1/2_op2", "level1/3_op3"]
    assert of(events, "planned")[0]["command"][2:4] == ["write", "op2"]
    assert not made.root.exists()


def test_a_record_that_cannot_be_written_is_told_and_written_when_it_can_be(made):
    made.mode("gate+write")
    made.config |= {"cases": "level1=1,2", "devices": [0]}
    place = made.root / "report/level1/1_op1/result.json"
    child = made.start()
    until((made.notes / "at-op1").exists)
    # No file takes the place of a folder that has something in it.
    (place / "in the way").mkdir(parents=True)
    (made.notes / "go-op1").touch()
    until((made.notes / "at-op2").exists)
    shutil.rmtree(place)
    until(place.is_file)
    (made.notes / "go-op2").touch()
    out, _ = child.communicate(timeout=240)

    events = [json.loads(line) for line in out.splitlines()]
    assert [one["saved"] for one in of(events, "case")] == [False, True]
    assert str(place) in of(events, "trouble")[0]["why"]
    assert made.result(1)["overall_status"] == made.result(2)["overall_status"] == "verifier_skipped"


def test_a_case_that_takes_too_much_memory_is_ended_alone(made):
    made.mode("write+eat")
    made.config["verifier"]["memory"] = 600
    made.config["cases"] = "level1=1"
    child = made.start()

    out, _ = child.communicate(timeout=240)

    assert "600 MB" in made.result(1)["messages"]["pypto"]["en"]
    assert of([json.loads(line) for line in out.splitlines()], "batch-ended")[0]["stopped"] is False
    assert made.nothing_left()


def test_what_cannot_be_copied_is_told_and_the_work_is_kept(made):
    made.mode("gate+write")
    made.config["cases"] = "level1=1"
    child = made.start()
    until((made.notes / "at-op1").exists)
    # A file where the copies would be.
    (made.root / "report/level1/1_op1/artifacts.new").write_text("in the way\n", encoding="utf-8")
    (made.notes / "go-op1").touch()
    out, _ = child.communicate(timeout=240)

    events = [json.loads(line) for line in out.splitlines()]
    assert "1_op1/artifacts" in of(events, "trouble")[0]["why"]
    assert made.result(1)["pypto_status"] == "success"


def test_plain_lines_where_there_is_no_terminal(made):
    made.config["cases"] = "level1=1"
    done = subprocess.run(made.words(), capture_output=True, text=True, timeout=240, check=False)

    assert "level1/1_op1  generating\n" in done.stdout
    assert "level1/1_op1  not verified\n" in done.stdout
    assert "\x1b" not in done.stdout
    assert f"results: {made.root}/report/summary.md" in done.stdout


def test_a_terminal_sees_the_monitor_and_keeps_the_end(made):
    made.mode("once")
    made.config["cases"] = "level1=1"
    above, below = pty.openpty()
    fcntl.ioctl(below, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
    child = subprocess.Popen(made.words(), stdin=below, stdout=below, stderr=below, env={**os.environ, "TERM": "xterm"})
    os.close(below)
    seen = b""
    until(made.inside)
    while b"1_op1" not in seen:
        seen += os.read(above, 65536)
    child.send_signal(signal.SIGINT)
    try:
        while data := os.read(above, 65536):
            seen += data
    except OSError:
        pass
    os.close(above)

    assert child.wait(60) == 130, seen.decode()
    assert seen.index(b"\x1b[?1049h") < seen.index(b"1_op1") < seen.index(b"\x1b[?1049l")
    assert b"stopped: 0 of 1" in seen.partition(b"\x1b[?1049l")[2]


def test_a_python_with_another_pypto_is_found_out_before_any_case(made, tmp_path):
    for name, version in (("torch", "2.5.1"), ("pypto", "0.1.0"), ("numpy", "1.26.4"), ("sympy", "1.13.0")):
        (tmp_path / "site" / name).mkdir(parents=True)
        (tmp_path / "site" / f"{name}-{version}.dist-info").mkdir()
        meta = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        (tmp_path / "site" / f"{name}-{version}.dist-info" / "METADATA").write_text(meta, encoding="utf-8")
    made.config["verifier"] = {"backend": "sim", "python": sys.executable}
    child = made.start(env={**os.environ, "PYTHONPATH": str(tmp_path / "site")})

    _, err = child.communicate(timeout=240)

    assert child.returncode == 2
    assert "pypto 0.1.0 (== 0.2.0)" in err
    assert "torch" not in err.partition("pypto 0.1.0")[2]
    assert made.started() == []
