"""The names dtypes go by, their sizes, and numbers as designs write them.  Free of pydantic: other checks use it."""

from __future__ import annotations

import re

DTYPES = (
    "float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64",
    "uint8", "uint16", "uint32", "uint64", "bool",
)  # fmt: skip
DTYPE_ALIASES = {
    "fp16": "float16", "half": "float16", "bf16": "bfloat16", "fp32": "float32", "float": "float32",
    "fp64": "float64", "double": "float64", "int": "int32", "uint": "uint32",
}  # fmt: skip
# A type parameter of the kernel: stands for every confirmed dtype.
GENERIC = re.compile(r"(?:[A-Z]\w?|dtype)\Z")
_SPLIT = re.compile(r"[\s,/|、]+")


def fold_dtype(name: str) -> str | None:
    """``fp16``, ``half``, ``float16_t`` → ``float16``; None for what is no dtype."""
    plain = name.strip().lower().removeprefix("torch.").removeprefix("np.").removesuffix("_t")
    plain = DTYPE_ALIASES.get(plain, plain)
    return plain if plain in DTYPES else None


def split_dtypes(text: str) -> list[str]:
    """The dtypes a text like ``fp16 / bf16`` names, as written."""
    return [word for word in _SPLIT.split(text) if word]


SIZES = {
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "int8": 1, "int16": 2, "int32": 4, "int64": 8,
    "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8, "bool": 1,
}  # fmt: skip
"""Bytes of one element."""


def is_integer(dtype: str) -> bool:
    """Whether a folded dtype holds whole numbers."""
    return dtype.startswith(("int", "uint", "bool"))


_POWER = re.compile(r"2\s*(?:\^|\*\*)\s*\(?(-?\d{1,3})\)?\Z")


def number(value: object) -> object:
    """``1e-3`` and ``2^-10``, which YAML reads as text, as numbers; anything else as it is."""
    if not isinstance(value, str):
        return value
    power = _POWER.match(value.strip())
    if power:
        return 2.0 ** int(power.group(1))
    try:
        return float(value)
    except ValueError:
        return value
