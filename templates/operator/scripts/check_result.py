# SPDX-License-Identifier: Apache-2.0
"""按精度标准检查每个 PE 的输出，写出误差统计；全部通过才以 0 退出。

基本判定：|a-g| <= rtol·max(|g|,1) 的元素占 100%，并且 eb = |mean(a-g) / max|g|| 不超过该 dtype 的上限。
参考判定（给出 --torch-output 时）：MaxRE、MeanRE、RMSE 分别不超过 Torch 结果的 10、2、2 倍。
两级有一级通过即可；整数@{ '' if reduces else '与只搬不算的数据' }@要求逐位一致。
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

EB_LIMITS = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-14}
RATIOS = {"MaxRE": 10, "MeanRE": 2, "RMSE": 2}
SMALLEST = float(np.finfo(np.float64).tiny)  # 相对误差的分母，golden 为 0 时用它
BLOCK = 1 << 22  # 一次比较的元素数：大用例也只占几百 MB 内存


def load(path: Path, config: dict) -> np.ndarray:
    """文件里的元素，仍是存储类型。"""
    return np.fromfile(path, dtype=config["numpy_dtype"])


def widen(stored: np.ndarray, dtype: str) -> np.ndarray:
    """可以比较的数值：整数用 int64，浮点用 float64。"""
    if dtype == "bfloat16":
        return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return stored.astype(np.int64 if np.issubdtype(stored.dtype, np.integer) else np.float64)


class Errors:
    """一路结果对 golden 的误差，分块累计。"""

    def __init__(self, dtype: str, rtol: float, atol: float) -> None:
        self.dtype, self.rtol, self.atol = dtype, rtol, atol
        self.count = self.within = 0
        self.max_ae = self.max_re = self.sum_re = self.sum_square = self.sum_error = self.max_golden = 0.0
        self.finite = True
        self.first = ""

    def add(self, stored: np.ndarray, golden: np.ndarray) -> None:
        """累计一块；两个数组等长，都是存储类型。"""
        wide, reference = widen(stored, self.dtype), widen(golden, self.dtype)
        if wide.dtype == np.float64 and not np.isfinite(wide).all():
            self.finite = False
            return
        # 整数的差按 float64 报告，是否相等按整数判断。
        equal = wide == reference
        error = wide.astype(np.float64) - reference.astype(np.float64)
        size, scale = np.abs(error), np.abs(reference.astype(np.float64))
        within = equal | (size <= np.maximum(self.rtol * np.maximum(scale, 1), self.atol))
        if self.rtol == 0 and self.atol == 0:
            within = equal
        if not self.first and not within.all():
            at = int(np.flatnonzero(~within)[0])
            self.first = f"idx={self.count + at} actual={wide[at]} expected={reference[at]} diff={size[at]}"
        relative = size / np.maximum(scale, SMALLEST)
        self.count += wide.size
        self.within += int(within.sum())
        self.max_ae = max(self.max_ae, float(size.max(initial=0)))
        self.max_re = max(self.max_re, float(relative.max(initial=0)))
        self.sum_re += float(relative.sum())
        self.sum_square += float((error * error).sum())
        self.sum_error += float(error.sum())
        self.max_golden = max(self.max_golden, float(scale.max(initial=0)))

    @property
    def metrics(self) -> dict[str, float]:
        """参考判定要比的三个量。"""
        count = max(self.count, 1)
        return {"MaxRE": self.max_re, "MeanRE": self.sum_re / count, "RMSE": (self.sum_square / count) ** 0.5}

    @property
    def precision_percent(self) -> float:
        return 100.0 * self.within / max(self.count, 1)

    @property
    def eb(self) -> float:
        """整体偏向一侧的程度。"""
        return abs(self.sum_error / max(self.count, 1)) / max(self.max_golden, SMALLEST)

    @property
    def basic(self) -> bool:
        limit = EB_LIMITS.get(self.dtype, 0.0)
        return self.finite and self.within == self.count and self.eb <= limit


def compare(actual: np.ndarray, golden: np.ndarray, config: dict, rtol: float, atol: float) -> Errors:
    """整个输出的误差。"""
    errors = Errors(config["dtype"], rtol, atol)
    for start in range(0, golden.size, BLOCK):
        errors.add(actual[start : start + BLOCK], golden[start : start + BLOCK])
    return errors


def against(errors: Errors, torch: Errors) -> bool:
    """参考判定：每个量都不超过 Torch 的若干倍。"""
    if not errors.finite or not torch.finite:
        return False
    return all(errors.metrics[name] <= most * torch.metrics[name] for name, most in RATIOS.items())


def check(pe: int, args: argparse.Namespace, config: dict) -> bool:
    """一个 PE 是否通过；误差统计写到标准输出。"""
@% if one_golden %@
    golden = load(args.data_dir / "golden.bin", config)
@% else %@
    golden = load(args.data_dir / f"golden_pe{pe}.bin", config)
@% endif %@
    actual = load(args.output_dir / f"output_pe{pe}.bin", config)
    if golden.size != config["expected_elems"] or actual.size != golden.size:
        print(f"PE {pe}: FAIL ({actual.size} elements, expected {config['expected_elems']})")
        return False
@% if kind == 'alltoallv' %@
    received = config["received"][pe]
    if (actual[received:].view(np.uint8) != 0xFF).any():
        print(f"PE {pe}: FAIL (written past the {received} received elements)")
        return False
    actual, golden = actual[:received], golden[:received]
@% endif %@
    errors = compare(actual, golden, config, args.rtol, args.atol)
    if not errors.finite:
        print(f"PE {pe}: FAIL (nan/inf detected)")
        return False
    reference = "not_given"
    passed = errors.basic
    if args.torch_output is not None:
        torch = load(args.torch_output / f"output_pe{pe}.bin", config)
        met = torch.size == golden.size and against(errors, compare(torch, golden, config, args.rtol, args.atol))
        reference, passed = str(met), passed or met
    print(
        f"PE {pe}: dtype={config['dtype']} MaxAE={errors.max_ae:.6e} MaxRE={errors.max_re:.6e} "
        f"MeanRE={errors.metrics['MeanRE']:.6e} rtol={args.rtol} atol={args.atol} "
        f"precision_percent={errors.precision_percent:.4f} eb={errors.eb:.6e} "
        f"basic_pass={errors.basic} reference_pass={reference}"
    )
    if errors.first:
        print(f"  first mismatch {errors.first}")
    print(f"PE {pe}: {'PASS' if passed else 'FAIL'} ({golden.size} elements)")
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--rtol", type=float, required=True)
    parser.add_argument("--atol", type=float, required=True)
    parser.add_argument("--torch-output", type=Path, help="同样输入的 Torch 结果所在目录，文件名与输出相同")
    args = parser.parse_args()

    config = json.loads((args.data_dir / "config.json").read_text(encoding="utf-8"))
    failed = sum(not check(pe, args, config) for pe in range(config["n_pes"]))
    if failed:
        print(f"FAIL: {failed}/{config['n_pes']} PE outputs mismatched")
        return 1
    print(f"PASS: all {config['n_pes']} PE outputs match")
    return 0


if __name__ == "__main__":
    sys.exit(main())
