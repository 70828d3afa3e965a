"""Starting this very program again.

The child gets our import path before it imports anything, so that neither its working folder nor the user's
``PYTHONPATH`` can put another ``yaml.py`` in the way.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

_CODE = (
    r"import sys; sys.path[:] = sys.argv.pop(1).split('\n'); import runpy; "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)


def argv(module: str, words: Sequence[str]) -> list[str]:
    """The command line of ``python -m module words…``, wherever it runs."""
    isolated = ["-I"] if sys.flags.isolated else []
    return [sys.executable, *isolated, "-c", _CODE, "\n".join(path for path in sys.path if path), module, *words]
