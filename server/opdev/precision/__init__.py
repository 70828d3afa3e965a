"""Both precision standards, over files of any size.

``judge_operator(root)`` judges an operator's last outputs, ``judge_pairs(pairs, ask)`` files that are named; both give a
``Report``.  numpy is loaded when one of them is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opdev.precision.judge import Ask, Pair, judge_pairs
    from opdev.precision.operator import judge_operator

__all__ = ["Ask", "Pair", "judge_operator", "judge_pairs"]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(name)
    where = "operator" if name == "judge_operator" else "judge"
    found: object = getattr(import_module(f"opdev.precision.{where}"), name)
    return found
