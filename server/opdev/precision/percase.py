"""``python -m opdev.precision.percase ROOT BACKEND``: the outputs of cases judged one by one while their matrix goes on.

It is a process of its own that stays for a whole matrix: numpy is loaded once, and whoever asks can end it.  Each line it
reads is ``{"data": folder, "output": folder}``; each gets one line back, as ``summary`` makes it.  A case that passes is told
without its heat maps: nothing of them is looked for.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from opdev.precision.summary import told


def main(argv: Sequence[str]) -> int:
    """Answer until there are no more questions."""
    root, backend = argv
    for line in sys.stdin:
        asked = json.loads(line)
        found = told(root, data=asked["data"], output=asked["output"], backend=backend, whole=False)
        sys.stdout.write(json.dumps(found, ensure_ascii=True, allow_nan=False) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
