"""A batch in simulation, from existing implementations to a summary that proves itself.  Needs the wheels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from scaled import wheels
from verify_made import KERNEL, MODEL, RELU


@pytest.fixture
def batch(tmp_path):
    """Two cases of one operator's name, the second of them wrong."""
    python = wheels()
    for case, kernel in (("19_relu", KERNEL), ("20_relu", KERNEL.replace("maximum(part, 0.0)", "maximum(part, 0.25)"))):
        (tmp_path / "bench/level1").mkdir(parents=True, exist_ok=True)
        (tmp_path / f"bench/level1/{case}.py").write_text(RELU, encoding="utf-8")
        folder = tmp_path / "repo/custom/level1" / case
        folder.mkdir(parents=True)
        (folder / "relu_impl.py").write_text(kernel, encoding="utf-8")
        (folder / "relu_pypto_impl.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "batch.yaml").write_text(
        "bench_dir: bench\ncases: level1=\ndevices: [0, 1]\noutput: {root_dir: out}\n"
        "generator: {command: [], need_stages: false}\npypto: {repo_root: repo}\n"
        f"verifier: {{backend: sim, python: {python}, seeds: 1}}\n",
        encoding="utf-8",
    )
    cache = str(Path(python).parents[1] / "share" / "opdev-cache")

    def run(*words):
        argv = [sys.executable, "-m", "opdev.cli", "bench", *words, "--lang", "en"]
        env = {**os.environ, "OPDEV_CACHE_DIR": cache}
        return subprocess.run(argv, capture_output=True, text=True, timeout=900, check=False, cwd=tmp_path, env=env)

    return run


def test_right_and_wrong_are_told_apart_and_what_was_decided_is_kept(batch, tmp_path):
    done = batch("run", "--config", "batch.yaml", "--format", "jsonl")

    events = [json.loads(line) for line in done.stdout.splitlines()]
    ended = {one["case"]: one["overall"] for one in events if one["event"] == "case"}
    assert (done.returncode, ended) == (1, {"level1/19_relu": "success", "level1/20_relu": "verify_failed"}), (
        done.stderr
    )
    found = json.loads((tmp_path / "out/report/summary.json").read_text(encoding="utf-8"))
    assert (found["totals"]["success"], found["totals"]["total"], found["unproven"]) == (1, 2, [])
    assert {one["backend"] for one in found["cases"]} == {"sim"}
    assert batch("report", "out", "--check").returncode == 0

    again = batch("run", "--config", "batch.yaml", "--format", "jsonl")

    kept = {one["case"] for one in map(json.loads, again.stdout.splitlines()) if one["event"] == "kept"}
    assert kept == {"level1/19_relu", "level1/20_relu"}
