"""Small cases in the form of KernelBench, made where a test needs them."""

from __future__ import annotations

RELU = '''
import torch
import torch.nn as nn


class Model(nn.Module):
    """Rectifies."""

    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)


rows, columns = 16, 64


def get_inputs():
    return [torch.rand(rows, columns)]


def get_init_inputs():
    return []
'''.lstrip()


def bench(root, levels, text=RELU):
    """A folder of cases: ``levels`` maps level to stems, or to texts by stem."""
    for level, stems in levels.items():
        folder = root / level
        folder.mkdir(parents=True, exist_ok=True)
        for stem in stems:
            (folder / f"{stem}.py").write_text(stems[stem] if isinstance(stems, dict) else text, encoding="utf-8")
    return str(root)
