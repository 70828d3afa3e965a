# SPDX-License-Identifier: Apache-2.0
"""检查每个 PE 的输出是不是上一个 PE 的输入：只搬不算，design.md 规定 rtol、atol 都是 0，即逐位一致。"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np


def check(path: Path, golden: np.ndarray, rtol: float, atol: float) -> tuple[bool, str]:
    """一个 PE 是否通过，以及写进报告的误差统计。"""
    actual = np.fromfile(path, dtype=golden.dtype)
    if actual.size != golden.size:
        return False, f"{actual.size} elements, expected {golden.size}"
    if not np.isfinite(actual).all():
        return False, "nan/inf detected"
    error = np.abs(actual.astype(np.float64) - golden.astype(np.float64))
    relative = error / np.maximum(np.abs(golden.astype(np.float64)), np.finfo(np.float64).tiny)
    statistics = f"MaxAE={error.max():.6e} MaxRE={relative.max():.6e} MeanRE={relative.mean():.6e}"
    wrong = np.flatnonzero(error > atol + rtol * np.abs(golden.astype(np.float64)))
    if wrong.size:
        at = int(wrong[0])
        statistics += f"\n  first mismatch idx={at} actual={actual[at]} expected={golden[at]} diff={error[at]}"
    return wrong.size == 0, statistics


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--rtol", type=float, required=True)
    parser.add_argument("--atol", type=float, required=True)
    args = parser.parse_args()

    config = json.loads((args.data_dir / "config.json").read_text(encoding="utf-8"))
    failed = 0
    for pe in range(config["n_pes"]):
        golden = np.fromfile(args.data_dir / f"golden_pe{pe}.bin", dtype=config["numpy_dtype"])
        passed, statistics = check(args.output_dir / f"output_pe{pe}.bin", golden, args.rtol, args.atol)
        failed += not passed
        print(f"PE {pe}: dtype={config['dtype']} {statistics} rtol={args.rtol} atol={args.atol}")
        print(f"PE {pe}: {'PASS' if passed else 'FAIL'} ({golden.size} elements)")
    if failed:
        print(f"FAIL: {failed}/{config['n_pes']} PE outputs mismatched")
        return 1
    print(f"PASS: all {config['n_pes']} PE outputs match")
    return 0


if __name__ == "__main__":
    sys.exit(main())
