# SPDX-License-Identifier: Apache-2.0
"""生成 @{ op }@ 的输入与 golden：@{ golden_zh }@。"""

import argparse
import json
from pathlib import Path

import numpy as np

# 文件里的存储类型。bfloat16 没有 numpy 类型，按 uint16 存。
STORED = {@% for dtype in dtypes %@"@{ dtype.name }@": np.@{ dtype.stored }@@{ ', ' if not loop.last }@@% endfor %@}


def encode(values: np.ndarray, dtype: str) -> np.ndarray:
    """把数值转成文件里的样子；bfloat16 取 float32 的高 16 位，就近舍入到偶数。"""
    if dtype != "bfloat16":
        return values.astype(STORED[dtype])
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


@% if kind == 'reduce-scatter' %@
def decode(stored: np.ndarray, dtype: str) -> np.ndarray:
    """文件里的样子转成可以累加的数值：整数用 int64，浮点用 float64。"""
    if dtype == "bfloat16":
        return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return stored.astype(np.int64 if np.issubdtype(stored.dtype, np.integer) else np.float64)


@% endif %@
def values(pe: int, count: int, dtype: str@{ ', pes: int' if kind == 'reduce-scatter' }@) -> np.ndarray:
@% if kind == 'reduce-scatter' %@
    """PE 的全部输入。取值随 PE 数缩小：相加不溢出，半精度累加的舍入误差也在容差之内。"""
    rng = np.random.default_rng(42 + pe)
    if np.issubdtype(STORED[dtype], np.integer) and dtype != "bfloat16":
        most = min(1000, np.iinfo(STORED[dtype]).max // pes)
        return rng.integers(-most, most, size=count, endpoint=True)
    most = 1.0 if dtype == "float32" else 0.5 / pes
    return rng.uniform(-most, most, size=count).astype(np.float32)
@% else %@
    """PE 的输入；种子带 PE 号，错位和取错 PE 都能看出来。"""
    rng = np.random.default_rng(42 + pe)
    if np.issubdtype(STORED[dtype], np.integer) and dtype != "bfloat16":
        limits = np.iinfo(STORED[dtype])
        return rng.integers(limits.min, limits.max, size=count, dtype=STORED[dtype], endpoint=True)
    return (rng.standard_normal(count, dtype=np.float32) + pe).astype(np.float32)
@% endif %@


def part(path: Path, dtype: str, start: int, count: int) -> np.ndarray:
    """文件里从 start 起的 count 个元素。"""
    kind = np.dtype(STORED[dtype])
    read = np.fromfile(path, dtype=kind, count=count, offset=start * kind.itemsize)
    if read.size != count:
        raise ValueError(f"{path}: {read.size} elements, expected {count}")
    return read


@% include 'kinds/' ~ kind ~ '/golden.py' %@


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pes", type=int, required=True)
    parser.add_argument("--elements", type=int, required=True, help="@{ elements_zh }@")
    parser.add_argument("--dtype", choices=sorted(STORED), required=True)
@% if kind == 'alltoallv' %@
    parser.add_argument("--pattern", choices=["even", "random", "sparse"], default="random")
@% elif kind == 'broadcast' %@
    parser.add_argument("--root", type=int, default=0)
@% endif %@
    parser.add_argument("--data-dir", type=Path, required=True)
    args = parser.parse_args()

    args.data_dir.mkdir(parents=True, exist_ok=True)
    config = {
        "n_pes": args.pes,
        "dtype": args.dtype,
        "numpy_dtype": np.dtype(STORED[args.dtype]).name,
        **write(args),
    }
    (args.data_dir / "config.json").write_text(json.dumps(config), encoding="utf-8")


if __name__ == "__main__":
    main()
