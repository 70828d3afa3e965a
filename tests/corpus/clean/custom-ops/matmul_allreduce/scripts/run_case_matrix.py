# SPDX-License-Identifier: Apache-2.0
"""跑完 matmul_allreduce 的用例矩阵，写 docs/case_matrix_report.md；有一个失败就以 1 退出。"""

import argparse
import subprocess
import sys
from pathlib import Path

OP_DIR = Path(__file__).resolve().parent.parent
# (用例, 分类, PE 数, m, n, 每 PE 的 k)
CASES = [
    ("one_tile_2pe", "functional", 2, 128, 256, 64),
    ("square_2pe", "functional", 2, 1024, 1024, 512),
    ("square_4pe", "functional", 4, 1024, 1024, 256),
    ("hidden_8pe", "functional", 8, 2048, 7168, 512),
    ("tail_rows", "boundary", 2, 129, 256, 64),
    ("tail_columns", "boundary", 2, 128, 257, 64),
    ("fewer_than_cores", "boundary", 2, 16, 16, 16),
    ("stress_8pe", "stress", 8, 8192, 8192, 1024),
]


def run(case: tuple[str, str, int, int, int, int], timeout: int) -> str:
    """一个用例的结论：PASS、FAIL 或 TIMEOUT。"""
    _, _, pes, m, n, k = case
    command = ["bash", str(OP_DIR / "scripts" / "run.sh"), str(pes), str(m), str(n), str(k)]
    try:
        done = subprocess.run(command, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return "TIMEOUT"
    return "PASS" if done.returncode == 0 else "FAIL"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="只跑名字里有这个词的用例")
    parser.add_argument("--timeout", type=int, default=600, help="单个用例的秒数上限")
    args = parser.parse_args()

    cases = [case for case in CASES if args.only in case[0]]
    results = [(case, run(case, args.timeout)) for case in cases]
    lines = ["# matmul_allreduce 用例矩阵", "", "| 用例 | 分类 | PE 数 | m | n | k | 结果 |", "|---|---|---|---|---|---|---|"]
    lines += [f"| {' | '.join(str(cell) for cell in case)} | {verdict} |" for case, verdict in results]
    report = OP_DIR / "docs" / "case_matrix_report.md"
    report.write_text("\n".join(lines) + "\n", encoding="utf-8")
    failed = [case[0] for case, verdict in results if verdict != "PASS"]
    print(f"{len(results) - len(failed)}/{len(results)} 通过；报告：{report}")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
