"""``python -m opdev.pyptosim``: what a run's step starts."""

import sys

from opdev.pyptosim.cli import main

sys.exit(main(sys.argv[1:]))
