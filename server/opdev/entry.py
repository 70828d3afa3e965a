"""The installed commands.  ``--version`` is answered before anything heavy is imported."""

from __future__ import annotations

import sys


def lint() -> int:
    """``opdev-lint``."""
    if _version("opdev-lint"):
        return 0
    from opdev.lint.cli import main

    return main()


def lsp() -> int:
    """``opdev-lsp``."""
    if _version("opdev-lsp"):
        return 0
    from opdev.lsp.cli import main

    return main()


def opdev() -> int:
    """``opdev``."""
    if _version("opdev"):
        return 0
    from opdev.cli import main

    return main()


def _version(name: str) -> bool:
    if sys.argv[1:] != ["--version"]:
        return False
    from opdev import __version__

    sys.stdout.write(f"{name} {__version__}\n")
    return True
