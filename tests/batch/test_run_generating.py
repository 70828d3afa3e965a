"""Generation is judged by what is on disk when the program has ended, and nothing of the program is left."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

import pytest
from run_made import HERE, generator, gone, host, one_case, settings, until

from opdev.bench import placing
from opdev.bench.generating import generate
from opdev.bench.model import Host, Slot
from opdev.runs.execute import Stop, execute


@pytest.fixture
def made(tmp_path):
    """A function that generates in one mode."""
    case, spec = one_case(tmp_path)
    program = generator(tmp_path / "work 目录")
    folder = tmp_path / "ops 算子'1" / "op1"
    folder.mkdir(parents=True)

    def go(mode, *more, slot=HERE, stop=None, **values):
        chosen = settings(program, mode, *more, **values)
        return generate(case, spec, str(folder), slot, chosen, str(tmp_path / "logs"), stop or Stop())

    go.folder, go.notes = folder, tmp_path / "work 目录"
    return go


def test_what_is_complete_is_a_success_with_its_files(made):
    found = made("write")

    assert (found.status, found.retries) == ("success", 0)
    assert set(found.artifacts) == {"op1_impl.py", "op1_golden.py", "test_op1.py", "op1_pypto_impl.py", "SPEC.md"}
    assert Path(found.log).read_text(encoding="utf-8") == "生成 op1 3\n"


@pytest.mark.parametrize(
    ("mode", "status", "said"),
    [
        ("partly", "artifact_missing", "op1_pypto_impl.py"),
        ("partly+bad", "artifact_missing", "exit 3"),
        ("partly", "artifact_missing", "The log ends: 生成 op1"),
        ("write+bad", "subprocess_error", "exit 3"),
        ("failed", "blocked", "stage 7 is failed"),
        ("second", "blocked", "stage 7 is in_progress"),
    ],
)
def test_what_is_not_complete_says_what_is_missing(made, mode, status, said):
    found = made(mode)

    assert found.status == status
    assert said in found.message["en"]


def test_a_workflow_of_four_stages_is_complete_when_they_are(made):
    assert made("pro").status == "success"


def test_an_incomplete_workflow_is_tried_again_and_each_attempt_has_its_log(made):
    found = made("second", retry=1)

    assert (found.status, found.retries, len(found.logs)) == ("success", 1, 2)
    assert found.logs[1].endswith("pypto_run.log.attempt2")


def test_a_failed_stage_is_not_tried_again(made):
    assert made("failed", retry=3).retries == 0


def test_what_is_there_is_not_made_again_unless_asked_for(made):
    made("write")

    assert made("bad").status == "skipped"
    assert made("bad", force=True).status == "artifact_missing"
    assert made("write", force=True).status == "success"
    assert len((made.notes / "started").read_text(encoding="utf-8").splitlines()) == 3


def test_a_failed_workflow_with_all_files_is_blocked_without_running_again(made):
    made("failed")

    assert made("write").status == "blocked"
    assert len((made.notes / "started").read_text(encoding="utf-8").splitlines()) == 1


def test_without_a_command_what_is_there_is_taken_or_named(made):
    assert made("write", skip=True).status == "artifact_missing"
    made("write")

    assert made("write", command=()).status == "skipped"


def test_a_generator_without_stages_owes_only_what_is_verified(made):
    code = "import sys, pathlib; pathlib.Path(sys.argv[1], 'op1_pypto_impl.py').write_text('# made')"
    command = (sys.executable, "-c", code, "{folder}")

    assert made("", command=command).status == "artifact_missing"
    assert made("", command=command, need_stages=False, force=True).status == "success"


def test_a_link_or_an_empty_file_is_no_artifact(made):
    made("write")
    (made.folder / "op1_impl.py").unlink()
    (made.folder / "op1_impl.py").symlink_to("/etc/hostname")
    (made.folder / "SPEC.md").write_text("", encoding="utf-8")

    found = made("write", skip=True)

    assert found.status == "artifact_missing"
    assert "op1_impl.py, SPEC.md" in found.message["en"]


def test_a_state_file_that_is_none_is_blocked_with_its_place(made):
    made("write")
    (made.folder / ".orchestrator_state.json").write_text("{\n oops", encoding="utf-8")

    found = made("say")

    assert found.status == "blocked"
    assert ".orchestrator_state.json:2:" in found.message["en"]


def test_one_that_hangs_and_ignores_the_signal_is_killed_in_time(made, monkeypatch):
    monkeypatch.setitem(placing.command.__kwdefaults__, "grace", 0.3)

    found = made("stubborn+hang", timeout=5.0)

    assert found.status == "timeout"
    assert gone(int((made.notes / "in-op1").read_text(encoding="ascii")))


def test_what_a_generator_leaves_running_is_ended(made):
    found = made("orphan+write")

    assert found.status == "success"
    assert "1 processes" in found.message["en"]
    assert gone(int((made.notes / "orphan-op1").read_text(encoding="ascii")))


def test_a_flood_of_output_is_bounded_on_disk_and_its_end_is_kept(made):
    found = made("flood+write")

    data = Path(found.log).read_bytes()
    assert found.status == "success"
    assert len(data) < 18_000_000
    assert data.endswith(b"the end\n")
    assert b"bytes left out" in data


def test_a_command_that_is_not_there_is_said(made):
    found = made("", command=("no-such-program",))

    assert found.status == "command_not_found"
    assert "no-such-program" in found.message["en"]


def test_words_are_filled_in_once_and_stay_words(made):
    found = made(
        "say+write", "{device}", "{op} {op}", "{nothing}", "{model}", 'a\'b "c" $HOME `x` 中', model="{folder}"
    )

    said = Path(found.log).read_text(encoding="utf-8").splitlines()[1]
    assert said == '3 op1 op1 {nothing} {folder} a\'b "c" $HOME `x` 中'


def test_the_prompt_names_the_twelve_rules_and_the_folder(made):
    said = Path(made("say+write", "{prompt}").log).read_text(encoding="utf-8")

    assert "\n12. " in said
    assert "\n13. " not in said
    assert f"`{made.folder}/REQUIRE.md`" in said
    assert "from op1_impl import" in said


def test_a_stop_ends_the_program(made):
    stop = Stop()
    done = []
    thread = threading.Thread(target=lambda: done.append(made("hang", stop=stop)))
    thread.start()
    until(lambda: (made.notes / "in-op1").exists() and (made.notes / "in-op1").read_text(encoding="ascii"))

    stop.ask("SIGINT")
    thread.join(30)

    assert done[0].status == "subprocess_error"
    assert gone(int((made.notes / "in-op1").read_text(encoding="ascii")))


def test_another_host_gets_the_same_words_and_gives_the_same_end(made, tmp_path):
    with host(tmp_path) as there:
        slot = Slot(there, 5)
        found = made("say+write+orphan", 'a\'b "c" $HOME `x` 中', "*", "", slot=slot)

        assert found.status == "success", Path(found.log).read_text(encoding="utf-8")
        assert Path(found.log).read_text(encoding="utf-8") == '生成 op1 5\na\'b "c" $HOME `x` 中 * \n'
        until(lambda: gone(int((made.notes / "orphan-op1").read_text(encoding="ascii"))))
        assert made("write+bad", slot=slot, force=True).message["en"].startswith("the generator ended badly (exit 3)")
        missing = made("", command=("no-such-program",), slot=slot, force=True)
        assert (missing.status, "no-such-program" in missing.message["en"]) == ("command_not_found", True)


def test_what_hangs_on_another_host_is_ended_there_too(made, tmp_path):
    with host(tmp_path) as there:
        found = made("stubborn+orphan+hang", slot=Slot(there, 0), timeout=5.0)

        assert found.status == "timeout"
        for name in ("in-op1", "orphan-op1"):
            until(lambda name=name: gone(int((made.notes / name).read_text(encoding="ascii"))))


def test_a_prefix_without_input_ends_the_command_and_nothing_hangs(tmp_path):
    script = tmp_path / "without-input"
    script.write_text('#!/bin/sh\nexec sh -c "$1" </dev/null\n', encoding="utf-8")
    script.chmod(0o755)
    slot = Slot(Host("deaf", (str(script),)), 0)
    job = placing.command(slot, ["sleep", "30"], str(tmp_path), {}, token="bench-test-deaf", timeout=20.0)

    done = execute(job, lambda *_: None, Stop())

    assert (done.exit, done.timed_out) == (128 + 15, False)


def test_the_state_of_stages_is_read_as_json_only(made):
    made("write")
    state = json.loads((made.folder / ".orchestrator_state.json").read_text(encoding="utf-8"))
    state["stage_status"]["3"] = "cancelled"
    (made.folder / ".orchestrator_state.json").write_text(json.dumps(state), encoding="utf-8")

    assert made("write").status == "blocked"
