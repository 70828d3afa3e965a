"""Stored tensors made by the tests' own encoding, which shares nothing with the engine's decoding."""

from __future__ import annotations

import struct

import numpy as np


def encode(values, dtype):
    """Values as they stand in a file; bfloat16 by cutting a float32 in two, so they have to be exact."""
    if dtype != "bfloat16":
        return np.asarray(values).astype("uint8" if dtype == "bool" else dtype)
    return np.array([struct.unpack("<H", struct.pack("<f", v)[2:])[0] for v in np.ravel(values)], np.uint16)


def read(raw, dtype):
    """float64 of stored elements, by struct for bfloat16."""
    if dtype != "bfloat16":
        return raw.astype(np.float64)
    return np.array([struct.unpack("<f", b"\0\0" + struct.pack("<H", v))[0] for v in raw.ravel()], np.float64)


def after(value, dtype):
    """The next larger number of a dtype; ``value`` is positive and exact."""
    raw = encode([value], dtype)
    return float(read((raw.view(f"u{raw.itemsize}") + 1).astype(f"u{raw.itemsize}").view(raw.dtype), dtype)[0])
