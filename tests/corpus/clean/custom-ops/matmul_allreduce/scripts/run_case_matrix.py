# SPDX-License-Identifier: Apache-2.0
"""跑完 matmul_allreduce 的用例矩阵（scripts/cases.json），写 docs/case_matrix_report.md；有一个失败就以 1 退出。"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

OP_DIR = Path(__file__).resolve().parent.parent


def load_cases() -> list[dict]:
    """scripts/cases.json 里的全部用例。"""
    return json.loads((OP_DIR / "scripts" / "cases.json").read_text(encoding="utf-8"))


def run(case: dict, timeout: int) -> str:
    """一个用例的结论：PASS、FAIL 或 TIMEOUT。"""
    m, n = case["shape"]
    command = ["bash", str(OP_DIR / "scripts" / "run.sh"), str(case["n_pes"]), str(m), str(n), str(case["k"])]
    for _ in range(case["repeat"]):
        try:
            done = subprocess.run(command, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            return "TIMEOUT"
        if done.returncode != 0:
            return "FAIL"
    return "PASS"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="只跑名字里有这个词的用例")
    parser.add_argument("--timeout", type=int, default=600, help="单个用例的秒数上限")
    args = parser.parse_args()

    columns = ["case_id", "category", "scale", "n_pes", "dtype", "shape"]
    lines = ["# matmul_allreduce 用例矩阵", "", "| Case ID | category | scale | n_pes | dtype | shape | Result | 秒 |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    failed = total = 0
    for case in load_cases():
        if args.only not in case["case_id"]:
            continue
        begin = time.monotonic()
        verdict = run(case, args.timeout)
        seconds = time.monotonic() - begin
        total += 1
        failed += verdict != "PASS"
        cells = [str(case[column]) for column in columns]
        lines.append(f"| {' | '.join([*cells, verdict, f'{seconds:.1f}'])} |")
        print(f"[CASE] id={case['case_id']} result={verdict} seconds={seconds:.1f}")
    report = OP_DIR / "docs" / "case_matrix_report.md"
    report.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"[MATRIX] total={total} passed={total - failed} failed={failed}；报告：{report}")
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main())
