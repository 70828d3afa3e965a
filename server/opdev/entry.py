"""The installed commands.  ``--version`` is answered before anything heavy is imported."""

from __future__ import annotations

import sys
from collections.abc import Callable


def lint() -> int:
    """``opdev-lint``."""
    if _version("opdev-lint"):
        return 0
    if any(word.startswith(("--op-dir", "--hook", "--check-")) for word in sys.argv):
        from opdev.workflow.hookcli import gate, is_ours

        if is_ours(sys.argv[1:]):
            return _written(lambda: gate(sys.argv[1:]))
    from opdev.lint.cli import main

    return _written(main)


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

    return _written(main)


def _written(main: Callable[[], int]) -> int:
    """Run a command whose reader may go (`opdev … | head`): that ends it quietly, with SIGPIPE's status."""
    try:
        status = main()
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except BrokenPipeError:
        from opdev.pipes import quiet_end

        return quiet_end()


def _version(name: str) -> bool:
    if sys.argv[1:] != ["--version"]:
        return False
    from opdev import __version__

    sys.stdout.write(f"{name} {__version__}\n")
    return True
