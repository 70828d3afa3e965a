"""npu-smi and msprof for scripts that call them: each says at once that it is simulated."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys


def main(root: str, argv: list[str]) -> int:
    """Act as the tool that ``argv[1]`` names."""
    del root
    name = os.path.basename(argv[1])
    return _msprof(argv[2:]) if name == "msprof" else _npu_smi()


def _npu_smi() -> int:
    count = int(os.environ.get("OPDEV_SIM_NPUS", "8") or "8")
    soc = os.environ.get("OPDEV_SIM_SOC", "Ascend910B1")
    chip = soc.removeprefix("Ascend")
    # Scripts count these lines, either kind.
    lines = [f"[SIM] npu-smi: simulated by opdev; there is no NPU, {count} x {chip} are pretended."]
    lines += [f"Total Count                    : {count}"]
    lines += [f"{index:<8}0        {index:<8}{chip:<16}OK (simulated)" for index in range(count)]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _msprof(args: list[str]) -> int:
    """Run the application; nothing is profiled, and that is said."""
    command: list[str] = []
    queue = list(args)
    while queue:
        arg = queue.pop(0)
        if arg.startswith("--application="):
            command = shlex.split(arg.partition("=")[2])
        elif arg == "--application" and queue:
            command = shlex.split(queue.pop(0))
        elif not arg.startswith("-") and arg != "op":
            command = [arg, *queue]
            break
    sys.stderr.write("[SIM] msprof: simulated by opdev; the program runs, nothing is profiled.\n")
    return subprocess.run(command, check=False).returncode if command else 0
