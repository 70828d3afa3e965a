"""``python -m opdev.clangd``: what phase 3 runs, whatever is on PATH."""

from __future__ import annotations

import sys

from opdev.clangd.cli import main

sys.exit(main(sys.argv[1:]))
