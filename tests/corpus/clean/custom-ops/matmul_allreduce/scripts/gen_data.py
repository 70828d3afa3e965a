# SPDX-License-Identifier: Apache-2.0
"""生成 matmul_allreduce 的输入与 golden：golden 是全部 PE 的 A·B 在 float32 里之和。"""

import argparse
import json
from pathlib import Path

import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pes", type=int, required=True)
    parser.add_argument("--m", type=int, required=True)
    parser.add_argument("--n", type=int, required=True)
    parser.add_argument("--k", type=int, required=True, help="每个 PE 的 K")
    parser.add_argument("--data-dir", type=Path, required=True)
    args = parser.parse_args()

    args.data_dir.mkdir(parents=True, exist_ok=True)
    total = np.zeros((args.m, args.n), dtype=np.float32)
    for pe in range(args.pes):
        rng = np.random.default_rng(42 + pe)
        a = rng.uniform(-1, 1, size=(args.m, args.k)).astype(np.float16)
        b = rng.uniform(-1, 1, size=(args.k, args.n)).astype(np.float16)
        a.tofile(args.data_dir / f"a_pe{pe}.bin")
        b.tofile(args.data_dir / f"b_pe{pe}.bin")
        total += a.astype(np.float32) @ b.astype(np.float32)
    for pe in range(args.pes):
        total.tofile(args.data_dir / f"golden_pe{pe}.bin")
    config = {
        "n_pes": args.pes,
        "dtype": "float16",
        "numpy_dtype": "float32",  # 输出在 float32 里累加
        "expected_elems": args.m * args.n,
        "shape": [args.m, args.n],
    }
    (args.data_dir / "config.json").write_text(json.dumps(config), encoding="utf-8")


if __name__ == "__main__":
    main()
