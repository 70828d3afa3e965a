"""What runs inside the user's Python, each stage in a process of its own: inputs, the implementation, the reference.

That Python need not have opdev, so nothing here imports it; the simulation of ``pypto`` is loaded beside it under the name
``opdev_pypto_inside``.  ``main`` is given the path of a JSON text, which is gone when any code of a user's runs, and hands
over ``done.json`` with the secret that stood in it.  What a user's code prints decides nothing.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

DONE = "done.json"


def main(path: str) -> int:
    """Run one stage.  Does not return once it was run: what a user's code left to be done at exit is not done."""
    with open(path, encoding="utf-8") as stream:
        spec: dict[str, Any] = json.load(stream)
    os.unlink(path)
    # Neither the folder it was started in nor the words it was started with are a user's business.
    sys.argv[:] = [sys.argv[0]]
    sys.path[:] = [entry for entry in sys.path if entry]
    _bound(spec["memory"])
    if spec.get("backend") == "sim":
        # With CANN's variables set, pypto takes the NPU for its default.
        os.environ.pop("ASCEND_HOME_PATH", None)
    nonce = spec.pop("nonce")
    from . import stages

    found = stages.run(spec)
    _hand_over(spec["out"], {**found, "nonce": nonce, "stage": spec["stage"]})
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _hand_over(folder: str, result: dict[str, Any]) -> None:
    with open(f"{folder}/{DONE}.new", "w", encoding="utf-8") as stream:
        json.dump(result, stream, ensure_ascii=False)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(f"{folder}/{DONE}.new", f"{folder}/{DONE}")


def _bound(megabytes: int) -> None:
    """The most memory that this process, and each it starts, may have of its own; no core files; files of a bounded size."""
    import resource

    for what, wanted in (
        (resource.RLIMIT_DATA, megabytes * 1_000_000),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 8_000_000_000),
    ):
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
