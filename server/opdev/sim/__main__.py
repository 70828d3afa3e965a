"""``python -m opdev.sim``: the same as ``opdev sim``."""

import sys

from opdev.sim.cli import main

sys.exit(main(sys.argv[1:]))
