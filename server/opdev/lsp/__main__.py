"""``python -m opdev.lsp``."""

import sys

from opdev.lsp.cli import main

sys.exit(main())
