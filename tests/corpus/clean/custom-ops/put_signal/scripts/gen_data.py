# SPDX-License-Identifier: Apache-2.0
"""生成 put_signal 的输入与 golden：PE p 的 golden 就是 PE p-1 的输入。"""

import argparse
import json
from pathlib import Path

import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pes", type=int, required=True)
    parser.add_argument("--elements", type=int, required=True)
    parser.add_argument("--dtype", choices=["float32"], required=True)
    parser.add_argument("--data-dir", type=Path, required=True)
    args = parser.parse_args()

    args.data_dir.mkdir(parents=True, exist_ok=True)
    for pe in range(args.pes):
        rng = np.random.default_rng(42 + pe)
        data = (rng.standard_normal(args.elements) + pe).astype(np.float32)
        data.tofile(args.data_dir / f"input_pe{pe}.bin")
        data.tofile(args.data_dir / f"golden_pe{(pe + 1) % args.pes}.bin")
    config = {
        "n_pes": args.pes,
        "dtype": args.dtype,
        "numpy_dtype": args.dtype,
        "expected_elems": args.elements,
    }
    (args.data_dir / "config.json").write_text(json.dumps(config), encoding="utf-8")


if __name__ == "__main__":
    main()
