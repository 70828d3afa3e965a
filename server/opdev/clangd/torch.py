"""Where the headers of Torch and of torch_npu are: asked of a Python, which is told to import neither."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

_ASK = """
import importlib.util as u, json, os, sysconfig
found = {}
for name in ("torch", "torch_npu"):
    try:
        spec = u.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    found[name] = os.path.dirname(spec.origin) if spec and spec.origin else ""
print(json.dumps({**found, "python": sysconfig.get_path("include")}))
"""
_PATIENCE = 20
_NPU = (Path(__file__).parent / "include_torch_npu").as_posix()
"""The few declarations of torch_npu that bindings need, where it is not installed."""


def folders(python: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Include folders of Torch, torch_npu (the stand-in's where it is not) and Python; nothing where there is no Torch."""
    for program in dict.fromkeys((python or sys.executable, sys.executable)):
        found = _asked(program, environ)
        home = found.get("torch", "")
        if not os.path.isfile(f"{home}/include/torch/csrc/api/include/torch/torch.h"):
            continue
        here = [f"{home}/include", f"{home}/include/torch/csrc/api/include"]
        npu = f"{found.get('torch_npu')}/include"
        here.append(npu if os.path.isdir(npu) else _NPU)
        return tuple(p for p in (*here, found.get("python", "")) if p and os.path.isdir(p))
    return ()


def _asked(program: str, environ: Mapping[str, str]) -> dict[str, str]:
    try:
        done = subprocess.run(
            [program, "-c", _ASK], capture_output=True, text=True, check=False, env=dict(environ), timeout=_PATIENCE
        )
        found: dict[str, str] = json.loads(done.stdout) if not done.returncode else {}
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return {}
    return found
