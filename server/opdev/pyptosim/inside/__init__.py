"""What runs inside the user's Python: the operator's test on ``pypto`` in simulation, and a record of all it compared.

That Python need not have opdev, so nothing here imports it.  ``main`` is given a JSON text (see ``running.Spec``) and
writes JSON lines into the folder it names: what was found, what was compared, how each case ended.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from .lacking import lacking
from .records import Records
from .wheel import WrongWheelError, installed

DONE, ENVIRONMENT = 0, 5


def main(text: str) -> int:
    """Run a test; 0 when it was run to its end, whatever came of it, 5 where nothing can be run here."""
    spec: dict[str, Any] = json.loads(text)
    records = Records(spec["out"])
    try:
        installed(spec)
    except WrongWheelError as error:
        records.add("environment", problem=error.problem, **error.values)
        return ENVIRONMENT
    _bound(spec["memory"])
    os.environ["TILE_FWK_OUTPUT_DIR"] = f"{spec['out']}/pypto"
    os.makedirs(os.environ["TILE_FWK_OUTPUT_DIR"], exist_ok=True)
    sys.path[:0] = [path for path in spec["paths"] if path not in sys.path]
    from . import devices
    from .cases import run
    from .patches import BuildError, Patches
    from .taking import Taking

    patches = Patches(spec, records)
    try:
        patches.interpreter()
    except BuildError as error:
        records.add("environment", problem=error.problem, log=error.log, why=error.why)
        return ENVIRONMENT
    taking = Taking(records, spec["paths"])
    patches.apply(taking)
    for place in lacking(spec["sources"], patches.known):
        records.add("lacking", **place)
    devices.apply()
    taking.apply()
    run(spec, records, taking)
    records.add("end")
    return DONE


def _bound(megabytes: int) -> None:
    """The most memory that this process, and each it starts, may have of its own."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = megabytes * 1_000_000
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
