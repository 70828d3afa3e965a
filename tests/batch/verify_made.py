"""Cases and implementations of a verifier's tests: right ones, wrong ones, and ones that cheat."""

from __future__ import annotations

from pathlib import Path

RELU = '''"""逐元素取非负部分。"""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.randn(64, 64)]


def get_init_inputs():
    return []
'''
ADD = '''"""带偏置的加法。"""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(32, width))

    def forward(self, x, y):
        return x + y + self.bias


def get_inputs():
    return [torch.randn(32, 64), torch.randn(32, 64)]


def get_init_inputs():
    return [64]
'''
TWO = '''"""一个输入，两个输出。"""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return {"twice": x * 2.0, "next": x + 1.0}


def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return []
'''
KERNEL = '''"""取非负部分的内核。"""

import torch

import pypto


@pypto.frontend.jit
def relu_kernel(
    x: pypto.Tensor([64, 64], pypto.DT_FP32),
    out: pypto.Tensor([64, 64], pypto.DT_FP32),
):
    pypto.set_vec_tile_shapes(32, 64)
    for block in pypto.loop(2, name="rows", idx_name="block"):
        start = block * 32
        part = pypto.view(x, [32, 64], [start, 0])
        pypto.assemble(pypto.maximum(part, 0.0), [start, 0], out)


def relu_wrapper(x):
    out = torch.empty_like(x)
    relu_kernel(x, out)
    return out
'''
MODEL = '''"""与参考同名参数的模型。"""

from relu_impl import relu_wrapper
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        return relu_wrapper(x)
'''
ADD_KERNEL = """import torch

import pypto


@pypto.frontend.jit
def add_kernel(
    x: pypto.Tensor([32, 64], pypto.DT_FP32),
    y: pypto.Tensor([32, 64], pypto.DT_FP32),
    bias: pypto.Tensor([32, 64], pypto.DT_FP32),
    out: pypto.Tensor([32, 64], pypto.DT_FP32),
):
    pypto.set_vec_tile_shapes(32, 64)
    pypto.assemble(pypto.add(pypto.add(x, y), bias), [0, 0], out)


def add_wrapper(x, y, bias):
    out = torch.empty_like(x)
    add_kernel(x, y, bias, out)
    return out
"""
ADD_MODEL = """import torch
from add_impl import add_wrapper
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.bias = nn.Parameter(torch.empty(32, width))

    def forward(self, x, y):
        return add_wrapper(x, y, self.bias)
"""
TWO_KERNEL = """import torch

import pypto


@pypto.frontend.jit
def two_kernel(
    x: pypto.Tensor([32, 64], pypto.DT_FP32),
    twice: pypto.Tensor([32, 64], pypto.DT_FP32),
    more: pypto.Tensor([32, 64], pypto.DT_FP32),
):
    pypto.set_vec_tile_shapes(32, 64)
    pypto.assemble(pypto.mul(x, 2.0), [0, 0], twice)
    pypto.assemble(pypto.add(x, 1.0), [0, 0], more)


def two_wrapper(x):
    twice, more = torch.zeros_like(x), torch.zeros_like(x)
    two_kernel(x, twice, more)
    return {"twice": twice, "next": more}
"""
TWO_MODEL = MODEL.replace("relu", "two")
CASES = {"relu": RELU, "add": ADD, "two": TWO}
SOURCES = {"relu": (KERNEL, MODEL), "add": (ADD_KERNEL, ADD_MODEL), "two": (TWO_KERNEL, TWO_MODEL)}


class Made:
    """An operator's folder and its case file beside it."""

    def __init__(self, root: Path, op: str = "relu") -> None:
        self.op, self.folder, self.case = op, root / "custom" / op, root / "level1" / f"19_{op}.py"
        self.out = root / "report"
        self.folder.mkdir(parents=True)
        self.case.parent.mkdir(exist_ok=True)
        self.case.write_text(CASES[op], encoding="utf-8")
        kernel, model = SOURCES[op]
        self.write(f"{op}_impl.py", kernel)
        self.write(f"{op}_pypto_impl.py", model)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def swap(self, name: str, old: str, new: str) -> None:
        """Replace a piece of a file, which has to be there once."""
        path = self.folder / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, (name, old)
        path.write_text(text.replace(old, new), encoding="utf-8")

    def line(self, name: str, words: str) -> int:
        lines = (self.folder / name).read_text(encoding="utf-8").splitlines()
        return next(at for at, line in enumerate(lines, 1) if words in line)
