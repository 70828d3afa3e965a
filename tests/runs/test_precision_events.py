"""After a matrix the engine's judgement of its outputs is in the run's events, in `opdev show`, and is the command's own."""

from __future__ import annotations

import json
import os
import re

import pytest
from fakes import of
from needed import package
from programs import CASES, MATRIX, TWO

np = package("numpy")

WRITING = """
import json, os
import numpy as np
for folder in ("data/matrix", "output/matrix"):
    os.makedirs(root / folder, exist_ok=True)
for pe in range(2):
    golden = np.arange(64, dtype=np.float16) + pe
    golden.tofile(root / f"data/matrix/golden_pe{pe}.bin")
    if (root / "wrong").exists():
        golden[7] += 9
    if not (root / "silent").exists():
        golden.tofile(root / f"output/matrix/output_pe{pe}.bin")
(root / "data/matrix/config.json").write_text(json.dumps({"n_pes": 2, "dtype": "float16", "expected_elems": 64}))
"""


@pytest.fixture
def judged(make):
    op = make()
    op.write("scripts/cases.json", json.dumps({"cases": CASES, "invariants": []}))
    op.write("scripts/run_case_matrix.py", MATRIX.replace("told = (root", f"{WRITING}\ntold = (root", 1))
    op.write("told.txt", TWO)
    return op


def summary(op):
    _, events = op.go("4")
    [found] = of(events, "precision-summary")
    return found


def test_the_events_carry_what_the_command_says(judged):
    told = summary(judged)
    command = json.loads(judged.cli("precision", "--format", "json").stdout)

    assert (told["case"], told["said"], told["agrees"], told["why"]) == ("medium_8pe_fp16", "PASS", True, None)
    document = told["document"]
    assert document["verdict"] == "pass"
    assert [r["name"] for r in document["results"]] == ["PE 0", "PE 1"]
    for one in (document, command):
        one.pop("seconds")
    assert document == command
    for lang, word in (("en", "✓ pass  2 of 2 outputs"), ("zh", "✓ 通过  2/2 个输出")):
        shown = judged.cli("show", "last", "--lang", lang).stdout
        assert word in shown
        assert "medium_8pe_fp16" in shown


def test_a_checker_that_lets_wrong_outputs_pass_is_told(judged):
    judged.write("wrong", "")
    told = summary(judged)

    assert (told["said"], told["agrees"], told["document"]["verdict"]) == ("PASS", False, "fail")
    shown = judged.cli("show", "last", "--lang", "en").stdout
    assert "✗ PE 0: 1 elements out of tolerance" in shown
    assert "the operator's checker said PASS of medium_8pe_fp16, the precision engine does not" in shown
    assert judged.cli("precision").returncode == 1
    assert judged.cli("report", "matrix").returncode == 0
    rows = (judged.root / "docs/case_matrix_report.md").read_text(encoding="utf-8").splitlines()
    doubted = [row.split("|")[1].strip() for row in rows if "精度引擎判断不通过" in row]
    assert doubted == ["medium_8pe_fp16"]
    assert judged.cli("report", "--html", "r.html", "--lang", "en").returncode == 0
    assert (judged.root / "r.html").read_text(encoding="utf-8").count("precision engine: not") == 1


def test_outputs_that_are_not_there_or_older_are_no_pass(judged):
    judged.write("silent", "")
    told = summary(judged)
    assert (told["document"], told["agrees"]) == (None, None)
    assert "no outputs: output/matrix/output_pe0.bin" in told["why"]["en"]
    assert re.search("没有输出", told["why"]["zh"])
    assert "no outputs" in judged.cli("show", "last", "--lang", "en").stdout

    (judged.root / "silent").unlink()
    assert summary(judged)["document"]["verdict"] == "pass"
    judged.write("silent", "")
    for pe in range(2):
        os.utime(judged.root / f"output/matrix/output_pe{pe}.bin", (1, 1))
    told = summary(judged)
    assert told["document"] is None
    assert "is older than this run" in told["why"]["en"]


def test_a_phase_without_a_matrix_says_nothing(make):
    _, events = make().go("3")
    assert of(events, "precision-summary") == []
