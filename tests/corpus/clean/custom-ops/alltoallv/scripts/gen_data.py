# SPDX-License-Identifier: Apache-2.0
"""生成 alltoallv 的输入、计划与 golden；每对 PE 的长度由种子决定，可以是 0。"""

import argparse
import json
from pathlib import Path

import numpy as np

DTYPES = {"float16": np.float16, "float32": np.float32, "int32": np.int32}


def counts_of(pes: int, capacity: int, pattern: str) -> np.ndarray:
    """counts[src][dst]：src 发给 dst 的元素数，任何一行、一列的和都不超过 capacity。"""
    most = capacity // pes
    if pattern == "even":
        return np.full((pes, pes), most)
    counts = np.random.default_rng(42).integers(0, most + 1, size=(pes, pes))
    if pattern == "sparse":  # 一半的对没有数据
        counts[(np.add.outer(np.arange(pes), np.arange(pes)) % 2).astype(bool)] = 0
    return counts


def payload(src: int, capacity: int, dtype: str) -> np.ndarray:
    """src 的发送缓冲区，取值带 PE 号。"""
    if dtype == "int32":
        return ((src + 1) * 1_000_000 + np.arange(capacity) % 1_000_000).astype(np.int32)
    return (np.random.default_rng(1000 + src).standard_normal(capacity) + src).astype(DTYPES[dtype])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pes", type=int, required=True)
    parser.add_argument("--elements", type=int, required=True, help="每个 PE 的容量")
    parser.add_argument("--dtype", choices=sorted(DTYPES), required=True)
    parser.add_argument("--pattern", choices=["even", "random", "sparse"], default="random")
    parser.add_argument("--data-dir", type=Path, required=True)
    args = parser.parse_args()

    args.data_dir.mkdir(parents=True, exist_ok=True)
    counts = counts_of(args.pes, args.elements, args.pattern)
    sends = [payload(src, args.elements, args.dtype) for src in range(args.pes)]
    from_row = np.cumsum(counts, axis=1) - counts  # 在发送方从哪里取
    to_column = np.cumsum(counts, axis=0) - counts  # 在接收方放到哪里
    for pe in range(args.pes):
        sends[pe].tofile(args.data_dir / f"input_pe{pe}.bin")
        plan = np.stack([counts[pe], from_row[pe], to_column[pe], np.zeros(args.pes)], axis=1)
        plan.astype(np.int64).tofile(args.data_dir / f"plan_pe{pe}.bin")
        golden = np.full(args.elements * sends[pe].itemsize, 0xFF, np.uint8).view(DTYPES[args.dtype])
        for src in range(args.pes):
            begin, count = from_row[src][pe], counts[src][pe]
            golden[to_column[src][pe] :][:count] = sends[src][begin : begin + count]
        golden.tofile(args.data_dir / f"golden_pe{pe}.bin")
    config = {
        "n_pes": args.pes,
        "dtype": args.dtype,
        "numpy_dtype": args.dtype,
        "expected_elems": args.elements,
        "received": counts.sum(axis=0).tolist(),
    }
    (args.data_dir / "config.json").write_text(json.dumps(config), encoding="utf-8")


if __name__ == "__main__":
    main()
