"""`opdev bench cases` lists what is selected; a broken file is told and costs the others nothing."""

from __future__ import annotations

import json
import string
import subprocess
import sys

import pytest
from cases_made import RELU, bench

from opdev.bench.case_texts import TEXTS


def cases(*words, lang="en"):
    done = subprocess.run(
        [sys.executable, "-m", "opdev.cli", "bench", "cases", "--lang", lang, *words],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("bench")
    bench(root, {
        "level2": {"3_C": RELU + "CASES = '[[[1]], [[2, 3]]]'\n"},
        "level1": {"1_A": RELU, "2_B": "import torch\nclass Model(\n", "10_Long_name": "import torch\n"},
    })  # fmt: skip
    return str(root)


def test_a_broken_case_is_told_and_the_others_are_listed(folder):
    done = cases("--bench-dir", folder)

    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[2:6]] == ["level1/1_A", "level1/2_B", "level1/10_Long_name", "level2/3_C"]
    assert f"error: level1/2_B: {folder}/level1/2_B.py:2:12: syntax error: '(' was never closed" in lines
    assert any(line.startswith(f"error: level1/10_Long_name: {folder}/level1/10_Long_name.py:1: the case lacks") for line in lines)  # fmt: skip
    assert "cases: 4, broken: 2" in lines
    assert done.returncode == 1
    assert "4 个用例，其中 2 个文件有错" in cases("--bench-dir", folder, lang="zh").stdout


def test_json_says_what_is_known_and_null_for_what_is_not(folder):
    done = cases("--bench-dir", folder, "--cases", "level1=;level2=3", "--limit", "2", "--format", "json")
    found = json.loads(done.stdout)

    assert (found["total"], found["broken"], found["probed"]) == (3, 1, False)
    first, broken, last = found["cases"]
    assert (first["status"], first["inputs"], first["outputs"], first["tolerance"]) == ("ok", None, None, None)
    assert (broken["status"], "syntax error" in broken["error"]["en"]) == ("broken", True)
    assert (last["p1_shapes"], last["op_name"]) == ([[[1]], [[2, 3]]], "C")
    assert done.returncode == 1


def test_a_configuration_selects(folder, tmp_path):
    (tmp_path / "b.yaml").write_text(f"bench_dir: {folder}\ncases: level1=1\nlog_level: DEBUG\n")
    done = cases("--config", str(tmp_path / "b.yaml"))

    assert (done.returncode, "cases: 1, broken: 0" in done.stdout) == (0, True)
    assert "b.yaml:3:12: these keys change nothing here: log_level" in done.stderr
    done = cases("--config", str(tmp_path / "b.yaml"), "--cases", "level9=1")
    assert (done.returncode, "there are: level1, level2" in done.stderr, done.stdout) == (2, True, "")
    assert cases().returncode == cases("--bench-dir", str(tmp_path)).returncode == 2


def test_a_python_without_torch_costs_shapes_only(folder, tmp_path):
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    bare.chmod(0o755)
    done = cases("--bench-dir", folder, "--cases", "level2=3", "--probe", "--python", str(bare))

    assert done.returncode == 0
    assert "failed at import, so not all shapes are known: ModuleNotFoundError: No module named 'torch'" in done.stdout
    assert "inputs are known of 0, outputs of 0" in done.stdout


def test_the_schema_is_printed():
    assert json.loads(cases("--print-schema").stdout)["title"] == "A batch of `opdev bench`"


def fields(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("key", TEXTS)
def test_both_languages_say_the_same_values(key):
    zh, en = TEXTS[key]

    assert fields(zh) == fields(en)
    assert key.startswith("c-")
