"""What a batch comes to: counted from evidence, hardware and simulation apart, in the order of cases, quickly."""

from __future__ import annotations

import json

import pytest
from reports_made import calls, edit, finished, measured, seed

from opdev.bench import comparing, summary
from opdev.bench.model import BenchError, Generated, GeneratorSettings, Host, Settings
from opdev.cli import main


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Two proven on hardware, one simulated, one that failed, one that was not generated, one forged."""
    root = tmp_path_factory.mktemp("summed") / "batch"
    finished(root, "level1/100_Last", op="Last", backend="ascend", performance=measured(8.0))
    finished(root, "level1/20_Second", op="Second", backend="ascend", performance=measured(0.5))
    finished(root, "level1/3_First", op="First")
    finished(
        root, "level2/1_Lost", op="Lost", generated=Generated("timeout", {"zh": "超时", "en": "timed out"}, 7200.0)
    )
    finished(root, "level10/1_Forged", op="Forged", backend="ascend", performance=measured(1.0))
    edit(root / "report/level10/1_Forged/result.json", perf_speedup=1000.0)
    settings = Settings(
        "/bench", "level1", str(root), hosts=(Host("", (), (0, 1)),), generator=GeneratorSettings(repo_root="/repo")
    )
    summary.write_meta(settings, str(root / "report"))
    return root


@pytest.fixture(scope="module")
def made(root):
    return summary.build(str(root))


def test_cases_are_in_the_order_of_their_numbers(made):
    assert [case["key"] for case in made["cases"]] == [
        "level1/3_First", "level1/20_Second", "level1/100_Last", "level2/1_Lost", "level10/1_Forged",
    ]  # fmt: skip


def test_totals_count_what_is_proven(made):
    found = made["totals"]

    assert (found["total"], found["success"], found["success_rate"], found["unproven"]) == (5, 3, 0.6, 1)
    assert found["by_status"] == {"success": 3, "pypto_failed": 1, "unproven": 1}
    assert found["correctness"] == {"pass": 3, "fail": 0, "unknown": 2}
    assert {level: (one["total"], one["success"]) for level, one in found["by_level"].items()} == {
        "level1": (3, 3), "level2": (1, 0), "level10": (1, 0),
    }  # fmt: skip
    assert [(one["case"], one["problem"]) for one in made["unproven"]] == [("level10/1_Forged", "differs")]


def test_speedups_are_of_proven_hardware_results_alone(made):
    assert made["totals"]["perf"] == {
        "cases_with_perf": 2, "speedup_min": 0.5, "speedup_max": 8.0, "speedup_mean": 4.25, "speedup_geomean": 2.0,
    }  # fmt: skip


def test_simulated_and_hardware_results_are_never_averaged(made):
    found = made["totals"]
    apart = found["by_backend"]

    assert (apart["ascend"]["total"], apart["ascend"]["success"]) == (3, 2)
    assert (apart["sim"]["total"], apart["sim"]["success"]) == (1, 1)
    assert (found["duration_sec"]["verify_mean"], found["duration_sec"]["wall_mean"]) == (None, None)
    assert found["by_level"]["level10"]["duration_sec"]["verify_mean"] == 3.0
    assert apart["sim"]["duration_sec"]["verify_mean"] == 3.0
    assert found["duration_sec"]["pypto_total"] == 7200 + 4 * 12.5
    assert found["duration_sec"]["wall_total"] == 5 * 20.0


def test_what_was_asked_for_is_in_it(made, root):
    meta = made["meta"]

    assert (meta["bench_dir"], meta["devices"], meta["concurrency"], meta["pypto_repo_root"]) == (
        "/bench",
        [0, 1],
        2,
        "/repo",
    )
    assert (meta["artifact_root_dir"], meta["levels"], meta["backends"]) == (
        str(root),
        ["level1", "level2", "level10"],
        ["ascend", "sim"],
    )


def test_it_is_the_same_from_the_folder_of_reports(made, root):
    again = summary.build(str(root / "report"))

    assert again["totals"] == made["totals"]
    assert again["cases"] == made["cases"]


def test_an_operators_own_files_are_no_records(tmp_path):
    root = tmp_path / "batch"
    finished(root)
    inner = root / "report/level1/19_ReLU/level1/1_x"
    inner.mkdir(parents=True)
    (inner / "result.json").write_text(json.dumps({"overall_status": "success"}), encoding="utf-8")

    assert [case["key"] for case in summary.build(str(root))["cases"]] == ["level1/19_ReLU"]


def test_of_several_batches_one_has_to_be_named(tmp_path):
    finished(tmp_path / "Task_1")
    assert summary.build(str(tmp_path))["totals"]["total"] == 1
    finished(tmp_path / "Task_2")
    with pytest.raises(BenchError) as error:
        summary.build(str(tmp_path))

    assert (error.value.key, error.value.values["names"]) == ("r-several", "Task_1, Task_2")


def test_what_goes_on_is_pending(tmp_path):
    root = tmp_path / "batch"
    finished(root)
    (root / "report/level1/20_x").mkdir()
    (root / "report/level1/20_x/phase_state.json").write_text("{}", encoding="utf-8")
    made = summary.build(str(root))

    assert made["totals"]["by_status"] == {"pending": 1, "success": 1}
    assert made["unproven"] == []


def test_two_batches_beside_each_other(tmp_path):
    old, new = tmp_path / "old/batch", tmp_path / "new/batch"
    for root, fast in ((old, 2.0), (new, 3.0)):
        finished(root, "level1/1_a", op="a", backend="ascend", performance=measured(fast))
    finished(old, "level1/2_b", op="b")
    finished(new, "level1/2_b", op="b", status="failed", category="CORRECTNESS_RUNTIME", seeds=(seed(),))
    finished(old, "level1/3_c", op="c", generated=Generated("timeout"))
    finished(new, "level1/3_c", op="c")
    finished(old, "level1/4_d", op="d")
    finished(new, "level1/5_e", op="e")
    found = comparing.compare(summary.build(str(new)), summary.build(str(old)))

    assert (found["gained"], found["lost"]) == (["level1/5_e"], ["level1/4_d"])
    assert (found["new_failures"], found["new_successes"]) == (["level1/2_b"], ["level1/3_c"])
    assert found["speedups"] == [{"key": "level1/1_a", "before": 2.0, "after": 3.0, "ratio": 1.5}]


def run(capsys, *argv):
    status = main(["bench", *argv])
    return status, capsys.readouterr().out


def test_the_exit_status_says_whether_all_is_a_proven_success(tmp_path, capsys, root):
    finished(tmp_path / "good")

    assert run(capsys, "report", str(tmp_path / "good"), "--lang", "en")[0] == 0
    status, out = run(capsys, "report", str(root), "--lang", "zh")
    assert status == 1
    assert "通过 3 / 5（NPU 2 / 3，模拟 1 / 1），未经证明 1" in out
    assert "加速比（仅 NPU，2 个用例）：几何平均 2×" in out
    status, out = run(capsys, "report", str(root), "--check", "--format", "json")
    assert status == 1
    assert [one["problem"] for one in json.loads(out)["problems"]] == ["differs"]
    assert run(capsys, "report", str(tmp_path / "good"), "--check", "--lang", "en") == (
        0,
        "all 1 verified results agree with their evidence\n",
    )


def test_what_cannot_be_is_told(tmp_path, capsys):
    for argv in (
        [],
        [str(tmp_path)],
        [str(tmp_path / "none")],
        [str(tmp_path), "--check", "--format", "md"],
        [str(tmp_path), "--check", "--against", "x"],
    ):
        assert main(["bench", "report", *argv]) == 2
        assert capsys.readouterr().err.startswith("opdev bench: ")


@pytest.mark.parametrize(("form", "start"), [("json", "{"), ("md", "# 成批验证报告"), ("html", "<!DOCTYPE html>")])
def test_it_is_written_to_a_file(tmp_path, capsys, root, form, start):
    path = tmp_path / "out"
    other = tmp_path / "other"
    finished(other)
    argv = ("report", str(root), "--format", form, "--output", str(path), "--against", str(other), "--lang", "zh")

    assert run(capsys, *argv) == (1, f"已写入 {path}\n")
    assert path.read_text(encoding="utf-8").startswith(start)


def many(root, count):
    """A batch of so many cases that succeeded."""
    finished(root, "level1/0_x", op="x")
    template = (root / "report/level1/0_x").rename(root / "template")
    for number in range(count):
        folder = root / f"report/level{number % 4}/{number}_x"
        folder.mkdir(parents=True)
        for path in template.iterdir():
            (folder / path.name).symlink_to(path) if path.name.endswith(".py") else (folder / path.name).write_bytes(
                path.read_bytes()
            )
        edit(folder / "result.json", level=f"level{number % 4}", case_id=f"{number}_x")
        edit(folder / "result.json", evidence__sources__0__path="x_impl.py", evidence__logs=[])
    return str(root)


def test_a_summary_costs_by_its_cases_alone(tmp_path):
    """Counted in calls: ten times as many cases are not much more than ten times the work."""
    few, more = many(tmp_path / "few", 50), many(tmp_path / "more", 500)

    assert summary.build(more)["totals"]["success"] == 500
    assert calls(lambda: summary.build(more)) < 11 * calls(lambda: summary.build(few))
