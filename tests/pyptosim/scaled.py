"""A PyPTO operator on disk, the commands run on it, and the Python that has the wheels (``make test`` makes it)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

OPDEV = [sys.executable, "-m", "opdev.cli"]
IMPL = '''"""缩放：out = x * 2 + y。"""

import torch

import pypto


@pypto.frontend.jit
def scale_kernel(
    x: pypto.Tensor([pypto.DYNAMIC, 64], pypto.DT_FP16),
    y: pypto.Tensor([pypto.DYNAMIC, 64], pypto.DT_FP16),
    out: pypto.Tensor([pypto.DYNAMIC, 64], pypto.DT_FP16),
):
    pypto.set_vec_tile_shapes(32, 64)
    for block in pypto.loop(x.shape[0] // 32, name="rows", idx_name="block"):
        start = block * 32
        left = pypto.view(x, [32, 64], [start, 0])
        right = pypto.view(y, [32, 64], [start, 0])
        pypto.assemble(pypto.add(pypto.mul(left, 2.0), right), [start, 0], out)


def scale_wrapper(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    scale_kernel(x, y, out)
    return out
'''
GOLDEN = '''"""缩放的参考实现。"""

import torch


def scale_golden(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x.float() * 2.0 + y.float()).to(x.dtype)
'''
HEAD = '''"""缩放的测试。"""

import os

import pytest
import torch
import torch_npu
from numpy.testing import assert_allclose

from scale_golden import scale_golden
from scale_impl import scale_wrapper

DEVICE = int(os.environ.get("TILE_FWK_DEVICE_ID", "0"))


def _run(rows):
    torch.npu.set_device(DEVICE)
    torch.manual_seed(42)
    x, y = torch.randn(rows, 64).half(), torch.randn(rows, 64).half()
    return scale_wrapper(x.npu(), y.to(f"npu:{DEVICE}")).cpu(), scale_golden(x, y)


'''


class Operator:
    """One operator's folder and the commands that are run on it."""

    def __init__(self, root: Path, python: str, cache: Path) -> None:
        self.root = root
        self.env = {
            **{k: v for k, v in os.environ.items() if k not in ("ASCEND_HOME_PATH", "PYTHONPATH")},
            "PYTHON_CMD": python, "OPDEV_CACHE_DIR": str(cache),
        }  # fmt: skip

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def line(self, name: str, words: str) -> int:
        """The line of a file that holds these words."""
        lines = (self.root / name).read_text(encoding="utf-8").splitlines()
        return next(at for at, line in enumerate(lines, 1) if words in line)

    def opdev(self, *words: str, timeout: float = 900) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*OPDEV, *words, "--op", str(self.root)], capture_output=True, text=True, check=False, env=self.env, timeout=timeout,
        )  # fmt: skip

    def run(self, *words: str) -> tuple[int, list[dict]]:
        """``opdev run verify``: its status and its events."""
        done = self.opdev("run", "verify", "--format", "jsonl", "--lang", "en", *words)
        assert done.stdout, done.stderr
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def of(events: list[dict], kind: str) -> list[dict]:
    """The events of a kind."""
    return [event for event in events if event["type"] == kind]


def wheels() -> str:
    """The Python with pypto; a machine that cannot have one is skipped, one that lacks it fails."""
    if sys.platform != "linux" or sys.version_info >= (3, 13):
        pytest.skip("pypto 0.2.0 has wheels for CPython up to 3.12 on Linux only")
    python = os.environ.get("OPDEV_PYPTO_PYTHON") or f"{sys.prefix}/pypto/bin/python"
    if not os.path.exists(python):
        pytest.fail(f"{python} is not there: `make test` makes it, or name one with OPDEV_PYPTO_PYTHON")
    return python
