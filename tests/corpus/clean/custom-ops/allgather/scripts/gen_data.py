# SPDX-License-Identifier: Apache-2.0
"""生成 allgather 的输入与 golden：每个 PE 一份输入，golden 是按 PE 顺序的拼接。"""

import argparse
import json
from pathlib import Path

import numpy as np

DTYPES = {"float16": np.float16, "float32": np.float32, "int32": np.int32}


def shard(pe: int, elements: int, dtype: str) -> np.ndarray:
    """PE 的输入；取值带 PE 号，错位和取错 PE 都能看出来。"""
    if dtype == "int32":
        return ((pe + 1) * 1_000_000 + np.arange(elements) % 1_000_000).astype(np.int32)
    rng = np.random.default_rng(42 + pe)
    return (rng.standard_normal(elements) + pe).astype(DTYPES[dtype])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pes", type=int, required=True)
    parser.add_argument("--elements", type=int, required=True)
    parser.add_argument("--dtype", choices=sorted(DTYPES), required=True)
    parser.add_argument("--data-dir", type=Path, required=True)
    args = parser.parse_args()

    args.data_dir.mkdir(parents=True, exist_ok=True)
    shards = [shard(pe, args.elements, args.dtype) for pe in range(args.pes)]
    for pe, data in enumerate(shards):
        data.tofile(args.data_dir / f"input_pe{pe}.bin")
    np.concatenate(shards).tofile(args.data_dir / "golden.bin")
    config = {
        "n_pes": args.pes,
        "dtype": args.dtype,
        "numpy_dtype": args.dtype,
        "expected_elems": args.elements * args.pes,
    }
    (args.data_dir / "config.json").write_text(json.dumps(config), encoding="utf-8")


if __name__ == "__main__":
    main()
