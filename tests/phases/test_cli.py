"""``opdev gate`` and ``opdev status``: exit status, texts, JSON against the shipped schemas."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import jsonschema
import pytest
import recipes
from build import CORPUS, RECIPES, copied, finished

from opdev.cli import main
from opdev.columns import width
from opdev.config import Configs
from opdev.phases import schema
from opdev.phases.graph import ORDER, phase_id
from opdev.phases.status import glance
from opdev.project.operators import Operator
from opdev.project.places import Places


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    try:
        status = main(list(arguments))
    except SystemExit as stop:
        status = stop.code
    out, err = capsys.readouterr()
    return status, out, err


def test_a_closed_gate_names_each_failed_check_its_place_and_the_way_out(tmp_path, capsys, monkeypatch):
    recipes.case_fails(tmp_path, "put_signal")
    monkeypatch.chdir(tmp_path)

    status, out, _ = run(capsys, "gate", "--op", "custom-ops/put_signal")

    assert status == 1
    assert "Phase 4, correctness: gate closed: 1 failed, 0 unproven" in out
    assert "failed correctness-passed  custom-ops/put_signal/docs/correctness_report.md:" in out
    assert "\n  = by its class" in out
    assert "ok: code-build, correctness-report" in out


def test_an_open_gate_and_a_skipped_one_are_status_0(tmp_path, capsys, monkeypatch):
    op = finished(tmp_path, "allgather", torch=False)
    monkeypatch.chdir(op.root / "src")

    assert run(capsys, "gate", "4")[0] == 0
    status, out, _ = run(capsys, "gate", "5.5")
    assert status == 0
    assert "skipped: torch_required is false" in out
    status, out, _ = run(capsys, "gate")
    assert status == 0
    assert "Phase 7, delivery: gate open" in out
    op.remove("README.md")
    status, out, _ = run(capsys, "gate")
    assert status == 1
    assert "Phase 3, code and build: gate closed" in out


@pytest.mark.parametrize(
    "arguments", [["gate"], ["status"], ["gate", "--lang", "zh"], ["status", "nowhere"], ["gate", "12"]]
)
def test_wrong_usage_is_status_2_and_says_what_to_do(tmp_path, capsys, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)

    status, out, err = run(capsys, *arguments)

    assert (status, out) == (2, "")
    assert "--op" in err or "no such folder" in err or "invalid choice" in err


def test_several_operators_are_named(tmp_path, capsys, monkeypatch):
    copied(tmp_path, "allgather")
    copied(tmp_path, "put_signal")
    monkeypatch.chdir(tmp_path)

    status, _, err = run(capsys, "gate")
    assert status == 2
    assert "allgather, put_signal" in err

    status, out, _ = run(capsys, "status")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[:2]] == ["allgather", "put_signal"]
    assert "torch_binding" not in out


def test_a_broken_configuration_is_status_2(tmp_path, capsys, monkeypatch):
    op = copied(tmp_path, "allgather")
    op.write("opdev.toml", "selekt = []\n", 1)
    monkeypatch.chdir(op.root)

    for command in ("gate", "status"):
        status, _, err = run(capsys, command)
        assert status == 2
        assert "selekt" in err


@pytest.mark.parametrize("row", sorted(RECIPES))
def test_json_is_what_the_schema_says(tmp_path, capsys, monkeypatch, row):
    _, name, make = RECIPES[row][0]
    make(tmp_path, name)
    monkeypatch.chdir(tmp_path / "custom-ops" / name)

    status, out, _ = run(capsys, "status", "--format", "json")
    found = json.loads(out)
    jsonschema.validate(found, schema.status())
    assert status == 0
    assert found["operators"][0]["row"] == row
    assert found["operators"][0]["root"] == "."

    status, out, _ = run(capsys, "gate", "--format", "json")
    found = json.loads(out)
    jsonschema.validate(found, schema.gate())
    assert (status == 1) == (found["state"] == "closed")


@pytest.mark.parametrize("phase", ORDER)
def test_every_gate_is_what_the_schema_says(tmp_path, capsys, monkeypatch, phase):
    op = finished(tmp_path, "reduce_scatter", optimise=True, met=False, rounds=2)
    monkeypatch.chdir(op.root)

    _, out, _ = run(capsys, "gate", phase, "--format", "json")

    jsonschema.validate(json.loads(out), schema.gate())


@pytest.mark.parametrize("command", ["gate", "status"])
def test_the_schema_is_printed_and_is_one(capsys, command):
    status, out, _ = run(capsys, command, "--print-schema")

    assert status == 0
    jsonschema.Draft202012Validator.check_schema(json.loads(out))


def test_chinese_reads_well(tmp_path, capsys, monkeypatch):
    op = recipes.no_report(tmp_path, "allgather")
    monkeypatch.chdir(op.root)

    _, out, _ = run(capsys, "status", "--lang", "zh")
    lines = out.splitlines()
    assert lines[1].startswith("  现在    Phase 4 正确性（恢复表第 6 行）")
    table = lines[lines.index("") + 1 :]
    states = [line for line in table if line.endswith(("已开", "还没到"))]
    assert len({width(line[: line.rindex("  ")]) for line in states}) == 1

    _, out, _ = run(capsys, "gate", "--lang", "zh")
    assert "门禁关闭：2 项未过，0 项未证实" in out
    assert "\n  = 跑完用例矩阵并写报告" in out


def test_gates_before_the_open_phase_are_pointed_at(tmp_path, capsys, monkeypatch):
    op = recipes.no_report(tmp_path, "allgather")
    op.remove("README.md")
    monkeypatch.chdir(op.root)

    _, out, _ = run(capsys, "status")

    assert "gates before it are closed: opdev gate 3" in out


def test_upstream_examples_are_answered(tmp_path, capsys, monkeypatch):
    """A flat example without design, scripts folder or matrix: no crash, a sensible answer."""
    repo = tmp_path / "shmem"
    files = {
        "include/shmem.h": "", "version.info": "1", "examples/demo/main.cpp": "int main() { return 0; }\n",
        "examples/demo/demo_kernel.cpp": "__global__ __aicore__ void demo() {}\n", "examples/demo/run.sh": "export SHMEM_UID_SESSION_ID=x\n",
        "examples/demo/README.md": "# Demo\n", "examples/utils/utils.h": "#include <shmem.h>\n",
    }  # fmt: skip
    for path, text in files.items():
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(text, encoding="utf-8")
    monkeypatch.chdir(repo)

    status, out, _ = run(capsys, "status")
    assert status == 0
    assert "Phase 1, design" in out
    assert "there is code already" in out
    for phase in ORDER:
        assert run(capsys, "gate", phase, "--op", "examples/demo")[0] in (0, 1)


def test_starting_up_loads_no_phase_and_a_status_no_server():
    code = (
        "import sys, opdev.entry, opdev.cli;"
        "early = {m for m in sys.modules if m.startswith('opdev.phases')};"
        "opdev.cli.main(['status', sys.argv[1]]);"
        "bad = early | ({'pygls', 'lsprotocol', 'torch', 'watchdog', 'hypothesis'} & set(sys.modules));"
        "sys.exit(f'imported {sorted(bad)}' if bad else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(CORPUS / "allgather")], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_a_glance_is_cheap_enough_for_a_code_lens(tmp_path):
    slowest = 0.0
    for how in (recipes.never_built, recipes.stale_report, finished):
        op = how(tmp_path / how.__name__, "reduce_scatter" if how is recipes.stale_report else "allgather")
        project, configs = Operator(op.root.as_posix(), Places()), Configs()
        glance(project, configs)
        times = []
        for _ in range(5):
            began = time.perf_counter()
            glance(project, configs)
            times.append(time.perf_counter() - began)
        slowest = max(slowest, min(times))

    assert slowest < 0.02


@pytest.mark.parametrize(
    ("name", "phase"), [("design", "1"), ("Tests", "2"), ("torch", "5.5"), ("optimise", "6.5"), ("6.5", "6.5")]
)
def test_phases_go_by_their_names_too(name, phase):
    assert phase_id(name) == phase


def test_a_phase_nobody_knows_is_refused_with_those_there_are(capsys):
    status, _, err = run(capsys, "gate", "designn", "--lang", "en")
    assert status == 2
    assert "no phase designn" in err
    assert "design" in err
    assert "6.5" in err


def test_a_link_of_another_name_is_the_operator_it_leads_to(tmp_path, capsys):
    op = finished(tmp_path, "allgather")
    link = tmp_path / "latest"
    link.symlink_to(op.root, target_is_directory=True)

    through = run(capsys, "status", str(link), "--lang", "en", "--format", "json")

    assert through == run(capsys, "status", str(op.root), "--lang", "en", "--format", "json")
    assert "every phase is done" in through[1]
