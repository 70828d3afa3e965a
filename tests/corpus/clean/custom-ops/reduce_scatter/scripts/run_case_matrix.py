# SPDX-License-Identifier: Apache-2.0
"""跑完 reduce_scatter 的用例矩阵，写 docs/case_matrix_report.md；有一个失败就以 1 退出。"""

import argparse
import subprocess
import sys
from pathlib import Path

OP_DIR = Path(__file__).resolve().parent.parent
# (用例, 分类, PE 数, 每段元素数, dtype)
CASES = [
    ("smoke_2pe_fp16", "functional", 2, 32768, "float16"),
    ("smoke_2pe_fp32", "functional", 2, 32768, "float32"),
    ("shape_2pe_int32", "functional", 2, 1048576, "int32"),
    ("shape_8pe_fp16", "functional", 8, 1048576, "float16"),
    ("tail_odd_2pe", "boundary", 2, 100003, "float16"),
    ("tail_prime_8pe", "boundary", 8, 7919, "float16"),
    ("fewer_than_cores", "boundary", 2, 5, "float32"),
    ("ub_edge", "boundary", 2, 786433, "float32"),
    ("stress_8pe", "stress", 8, 16777216, "float16"),
]


def run(case: tuple[str, str, int, int, str], timeout: int) -> str:
    """一个用例的结论：PASS、FAIL 或 TIMEOUT。"""
    _, _, pes, elements, dtype = case
    command = ["bash", str(OP_DIR / "scripts" / "run.sh"), str(pes), str(elements), dtype]
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
    lines = ["# reduce_scatter 用例矩阵", "", "| 用例 | 分类 | PE 数 | 元素数 | dtype | 结果 |", "|---|---|---|---|---|---|"]
    lines += [f"| {' | '.join(str(cell) for cell in case)} | {verdict} |" for case, verdict in results]
    report = OP_DIR / "docs" / "case_matrix_report.md"
    report.write_text("\n".join(lines) + "\n", encoding="utf-8")
    failed = [case[0] for case, verdict in results if verdict != "PASS"]
    print(f"{len(results) - len(failed)}/{len(results)} 通过；报告：{report}")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
