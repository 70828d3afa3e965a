# SPDX-License-Identifier: Apache-2.0
"""生成 reduce_scatter 的输入与 golden：golden 在 float32（整数用 int64）里求和再转回 dtype。"""

import argparse
import json
from pathlib import Path

import numpy as np

DTYPES = {"float16": np.float16, "float32": np.float32, "int32": np.int32}


def contribution(pe: int, count: int, dtype: str) -> np.ndarray:
    """一个 PE 的全部输入。半精度取值在 ±1 之内，8 个 PE 相加也不会溢出。"""
    rng = np.random.default_rng(42 + pe)
    if dtype == "int32":
        return rng.integers(-1000, 1000, size=count).astype(np.int32)
    return rng.uniform(-1, 1, size=count).astype(DTYPES[dtype])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pes", type=int, required=True)
    parser.add_argument("--elements", type=int, required=True, help="每段的元素数")
    parser.add_argument("--dtype", choices=sorted(DTYPES), required=True)
    parser.add_argument("--data-dir", type=Path, required=True)
    args = parser.parse_args()

    args.data_dir.mkdir(parents=True, exist_ok=True)
    wide = np.int64 if args.dtype == "int32" else np.float32
    total = np.zeros(args.pes * args.elements, dtype=wide)
    for pe in range(args.pes):
        data = contribution(pe, args.pes * args.elements, args.dtype)
        data.tofile(args.data_dir / f"input_pe{pe}.bin")
        total += data.astype(wide)
    for pe, part in enumerate(total.reshape(args.pes, args.elements)):
        part.astype(DTYPES[args.dtype]).tofile(args.data_dir / f"golden_pe{pe}.bin")
    config = {
        "n_pes": args.pes,
        "dtype": args.dtype,
        "numpy_dtype": args.dtype,
        "expected_elems": args.elements,
    }
    (args.data_dir / "config.json").write_text(json.dumps(config), encoding="utf-8")


if __name__ == "__main__":
    main()
