"""New operators on the CPU stand-in: tails, primes and repeats at 2 and 8 PEs, and a broken twin that is caught.

The whole matrix up to M is `opdev sim exec OP -- python3 scripts/run_case_matrix.py`; here run a few cases of each
kind, with transfers held back until something orders them.
"""

from __future__ import annotations

import json
import re

import pytest
from needed import needs, package

from opdev.runs.diagnose import Watch
from opdev.runs.execute import Outcome
from opdev.scaffold.cli import main as scaffold
from opdev.scaffold.options import KINDS
from opdev.sim.cli import main as sim

CASES = "tail_pe_8pe,tail_chunk_2pe,repeat_2pe"
LINE = re.compile(r"^\[CASE\] id=(\S+) .*result=(\S+) maxae=(\S+) maxre=(\S+) .*backend=sim$", re.MULTILINE)

package("numpy")
pytestmark = [pytest.mark.e2e, needs("g++", "cmake", "bash")]


def matrix(root, results, capfd, *, cases=CASES):
    argv = ["exec", str(root), "--nbi", "lazy", "--results", str(results), "--", "python3"]
    status = sim([*argv, "scripts/run_case_matrix.py", "--only", cases])
    return status, capfd.readouterr().out


def make(base, kind, dtype="fp16"):
    name = f"e2e_{kind.replace('-', '_')}"
    assert scaffold("new", [name, "--kind", kind, "--dtypes", dtype, "--dir", str(base)]) == 0
    return base / "custom-ops" / name


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_right_at_tails_and_repeats(tmp_path, capfd, kind):
    root = make(tmp_path, kind)

    status, out = matrix(root, root, capfd)

    assert {name: verdict for name, verdict, *_ in LINE.findall(out)} == dict.fromkeys(
        ("tail_pe_8pe_fp16", "tail_chunk_2pe_fp16", "repeat_2pe_fp16"), "PASS"
    ), out
    assert status == 0
    assert re.search(r"^\[MATRIX\] total=20 passed=3 failed=0 blocked=17 backend=sim$", out, re.MULTILINE)
    report = (root / "docs" / "correctness_report.md").read_text(encoding="utf-8")
    assert "backend: sim" in report
    assert "| 通过数 | 3 |" in report
    assert "| 阻塞（未执行）数 | 17 |" in report
    record = json.loads((root / "data" / "case_results.json").read_text(encoding="utf-8"))
    assert record["backend"] == "sim"


def test_a_case_too_large_for_the_stand_in_is_left_out_with_the_reason(tmp_path, capfd):
    root = make(tmp_path, "broadcast")

    status, out = matrix(root, root, capfd, cases="large_8pe")

    assert status == 2
    assert "[SKIP] 没有跑 large_8pe_fp16：规模 L，CPU 模拟默认只跑到 M\n" in out
    assert "[CASE]" not in out
    watch = Watch()
    watch.feed(out.encode())
    (told,) = watch.told(Outcome(exit=2))
    # Of the class that blocks a step, and routes to nobody's code.
    assert (told.id, told.cls) == ("scale-left-out", "environment")


def test_a_missing_quiet_fails_and_the_report_says_so(tmp_path, capfd):
    root = make(tmp_path, "broadcast")
    kernel = root / "src" / "e2e_broadcast_kernel.cpp"
    text = kernel.read_text(encoding="utf-8")
    quiet = "            aclshmemx_mte_quiet();\n            aclshmemx_signal_op"
    assert quiet in text
    kernel.write_text(text.replace(quiet, quiet.partition("\n")[2]), encoding="utf-8")

    status, out = matrix(root, root, capfd, cases="tail_chunk_2pe")

    assert status == 1
    assert "failed=1" in out
    report = (root / "docs" / "correctness_report.md").read_text(encoding="utf-8")
    assert re.search(r"^\| tail_chunk_2pe_fp16 \|.*\| FAIL \|", report, re.MULTILINE)
    assert "| 失败数 | 1 |" in report
    log = (root / "data" / "logs" / "tail_chunk_2pe_fp16.log").read_text(encoding="utf-8")
    assert "fault=unordered-read" in log
