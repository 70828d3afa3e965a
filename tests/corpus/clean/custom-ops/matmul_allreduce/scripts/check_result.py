# SPDX-License-Identifier: Apache-2.0
"""检查 matmul_allreduce：逐元素误差按 rtol·max(|g|,1) 判定，另看整体是否偏向一侧（eb）。

给了 --torch-output（torch_npu 小算子拼接的结果）时做第二遍：误差与参考之比不超过上限也算通过。
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

TINY = np.finfo(np.float64).tiny
RATIOS = {"MARE": 10, "MERE": 2, "RMSE": 2}  # 最大、平均、均方根误差与参考之比的上限


def check(path: Path, golden: np.ndarray, rtol: float, atol: float) -> tuple[bool, str]:
    """一个 PE 是否通过，以及写进报告的误差统计。一律在 float64 里比较。"""
    actual = np.fromfile(path, dtype=golden.dtype)
    if actual.size != golden.size:
        return False, f"{actual.size} elements, expected {golden.size}"
    if not np.isfinite(actual).all():
        return False, "nan/inf detected"
    wide, reference = actual.astype(np.float64), golden.astype(np.float64)
    error = np.abs(wide - reference)
    relative = error / np.maximum(np.abs(reference), TINY)
    scale = np.maximum(np.abs(reference), 1)
    within = error <= np.maximum(rtol * scale, atol)
    precision = 100.0 * within.mean()
    eb = abs(((wide - reference) / scale).mean())
    passed = bool(within.all()) and eb <= max(rtol, atol)
    text = f"MaxAE={error.max():.6e} MaxRE={relative.max():.6e} MeanRE={relative.mean():.6e}"
    text += f" precision_percent={precision:.4f} eb={eb:.3e} basic_pass={passed}"
    if not within.all():
        at = int(np.flatnonzero(~within)[0])
        text += f"\n  first mismatch idx={at} actual={actual[at]} expected={golden[at]} diff={error[at]}"
    return passed, text


def errors(actual: np.ndarray, golden: np.ndarray) -> dict[str, float]:
    """相对 golden 的最大、平均相对误差和均方根误差。"""
    wide, reference = actual.astype(np.float64), golden.astype(np.float64)
    relative = np.abs(wide - reference) / np.maximum(np.abs(reference), TINY)
    rmse = float(np.sqrt(np.mean((wide - reference) ** 2)))
    return {"MARE": float(relative.max()), "MERE": float(relative.mean()), "RMSE": rmse}


def compare(path: Path, torch_path: Path, golden: np.ndarray) -> tuple[bool, str]:
    """第二遍：误差是否没有明显超过参考实现的误差。"""
    actual = np.fromfile(path, dtype=golden.dtype)
    torch_output = np.fromfile(torch_path, dtype=golden.dtype)
    if actual.size != golden.size or torch_output.size != golden.size or not np.isfinite(actual).all():
        return False, "reference_pass=False"
    own, theirs = errors(actual, golden), errors(torch_output, golden)
    ratios = {name: own[name] / max(theirs[name], TINY) for name in RATIOS}
    passed = all(ratios[name] <= most for name, most in RATIOS.items())
    return passed, " ".join([*(f"{name}_ratio={ratios[name]:.3f}" for name in RATIOS), f"reference_pass={passed}"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--rtol", type=float, required=True)
    parser.add_argument("--atol", type=float, required=True)
    parser.add_argument("--torch-output", type=Path, help="参考结果的目录，里面是 output_pe<n>.bin")
    args = parser.parse_args()

    config = json.loads((args.data_dir / "config.json").read_text(encoding="utf-8"))
    failed = 0
    for pe in range(config["n_pes"]):
        golden = np.fromfile(args.data_dir / f"golden_pe{pe}.bin", dtype=config["numpy_dtype"])
        output = args.output_dir / f"output_pe{pe}.bin"
        passed, text = check(output, golden, args.rtol, args.atol)
        if args.torch_output is not None and output.is_file():
            close, second = compare(output, args.torch_output / output.name, golden)
            passed, text = passed or close, f"{text} {second}"
        failed += not passed
        print(f"PE {pe}: dtype={config['dtype']} {text} rtol={args.rtol} atol={args.atol}")
        print(f"PE {pe}: {'PASS' if passed else 'FAIL'} ({golden.size} elements)")
    print(f"{'FAIL' if failed else 'PASS'}: {config['n_pes'] - failed}/{config['n_pes']} PE outputs match")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
