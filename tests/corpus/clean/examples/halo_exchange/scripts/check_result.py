# SPDX-License-Identifier: Apache-2.0
"""逐位比较每个 PE 的网格。"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    args = parser.parse_args()

    config = json.loads((args.data_dir / "config.json").read_text(encoding="utf-8"))
    failed = 0
    for pe in range(config["n_pes"]):
        output = np.fromfile(args.data_dir / f"output_pe{pe}.bin", dtype=config["numpy_dtype"])
        golden = np.fromfile(args.data_dir / f"golden_pe{pe}.bin", dtype=config["numpy_dtype"])
        same = np.array_equal(output, golden)
        failed += not same
        print(f"PE {pe}: {'PASS' if same else 'FAIL'} ({golden.size} elements)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
