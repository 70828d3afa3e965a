# SPDX-License-Identifier: Apache-2.0
"""生成 halo_exchange 的网格与 golden：边界先填 0，golden 的边界是邻居的内部行。"""

import argparse
import json
from pathlib import Path

import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pes", type=int, required=True)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--width", type=int, required=True)
    parser.add_argument("--data-dir", type=Path, required=True)
    args = parser.parse_args()

    args.data_dir.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(42)
    grids = [np.zeros((args.rows + 2, args.width), np.float32) for _ in range(args.pes)]
    for pe, grid in enumerate(grids):
        grid[1:-1] = rng.standard_normal((args.rows, args.width)) + pe
        grid.tofile(args.data_dir / f"input_pe{pe}.bin")
    for pe, grid in enumerate(grids):
        golden = grid.copy()
        golden[0] = grids[(pe - 1) % args.pes][-2]
        golden[-1] = grids[(pe + 1) % args.pes][1]
        golden.tofile(args.data_dir / f"golden_pe{pe}.bin")
    config = {"n_pes": args.pes, "dtype": "float32", "numpy_dtype": "float32", "expected_elems": int(grids[0].size)}
    (args.data_dir / "config.json").write_text(json.dumps(config), encoding="utf-8")


if __name__ == "__main__":
    main()
