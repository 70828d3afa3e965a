"""What follows from one case's shape, dtype and PEs, said in a few words: for inlay hints and hover.

A pure function of a few texts, kept, because an editor asks for thousands of cases after each edit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from opdev.design.derived import (
    KB,
    MB,
    TIERS,
    TOTAL_FLOOR,
    Collective,
    Tier,
    bus_factor,
    bytes_per_pe,
    collective_of,
    expected_tolerance,
    peak_gbps,
    tier,
    total_bytes,
)
from opdev.design.dtypes import fold_dtype

Lang = Literal["zh", "en"]
_GB = 1024 * MB
_FORMULAS: dict[Collective, str] = {
    "all-reduce": "2 × (n_pes − 1) / n_pes", "all-to-all": "(n_pes − 1) / n_pes", "all-gather": "(n_pes − 1) / n_pes",
    "reduce-scatter": "(n_pes − 1) / n_pes", "dispatch": "(n_pes − 1) / n_pes",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scale:
    """One case in numbers.  ``per_pe`` and ``total`` are bytes; ``total`` and ``factor`` need the number of PEs."""

    tier: Tier
    per_pe: int
    n_pes: int | None
    total: int | None
    collective: Collective | None
    factor: float | None
    peak: float | None
    """GB/s of one PE on a full mesh."""
    tolerance: float | None
    """The standard's rtol (atol is equal) for a long accumulation; None where it has no value."""
    dtype: str
    label: Mapping[str, str] = field(default_factory=dict)
    """``L · 64 MB/PE · total 512 MB ≥ 256 MB · bus 0.875 · rtol ≤ 2^-7``, by language."""

    def explain(self, lang: Lang) -> str:
        """The same with where each number comes from, a line each, in Markdown."""
        low, below = next((low, below) for name, low, below in TIERS if name == self.tier)
        zh = lang == "zh"
        span = f"≥ {human(low)}" if below is None else f"{human(low)} – {human(below)}" if low else f"< {human(below)}"
        lines = [
            f"{self.tier}: {span}" + ("（每个 PE）" if zh else " on each PE"),
            f"{human(self.per_pe)}/PE = {self.per_pe} B",
        ]
        if self.total is not None:
            said = "集合通信至少要有一个用例达到" if zh else "a collective needs one case that reaches"
            lines.append(f"{human(self.per_pe)} × {self.n_pes} PE = {human(self.total)}; {said} {human(TOTAL_FLOOR)}")
        if self.factor is not None and self.collective is not None:
            lines.append(f"bus factor ({self.collective}) = {factor_formula(self.collective)} = {self.factor:.4g}")
            peak = "峰值" if zh else "peak"
            lines.append(f"{peak} = {self.peak:.4g} GB/s/PE (full-mesh)")
        if self.tolerance is not None:
            said = "精度标准" if zh else "precision standard"
            lines.append(
                f"{said} ({self.dtype}): rtol = atol ≤ {power(self.tolerance)}"
                + (f" = {self.tolerance:.6g}" if self.tolerance else "")
            )
        return "\n".join(f"- {line}" for line in lines)


@lru_cache(maxsize=8192)
def scale_of(shape: str, dtype: str, n_pes: int | None, op_kind: str = "", op_name: str = "") -> Scale | None:
    """A case's scale; None where its shape or dtype says no number of bytes."""
    names = {"n_pes": float(n_pes)} if n_pes else None
    per_pe = bytes_per_pe(shape[:200], dtype, names)
    if per_pe is None or per_pe <= 0:
        return None
    pes = n_pes if n_pes is not None and n_pes >= 1 else None
    kind = collective_of(op_name) if op_kind in ("collective", "transport", "") else None
    found = Scale(
        tier(per_pe),
        per_pe,
        pes,
        total_bytes(per_pe, pes) if pes else None,
        kind,
        bus_factor(kind, pes) if kind is not None and pes else None,
        peak_gbps(kind, pes) if kind is not None and pes else None,
        expected_tolerance(op_kind, dtype, op_name) if op_kind else None,
        fold_dtype(dtype) or dtype,
    )
    return replace(found, label={"zh": _label(found, "zh"), "en": _label(found, "en")})


def _label(scale: Scale, lang: Lang) -> str:
    parts = [scale.tier, f"{human(scale.per_pe)}/PE"]
    if scale.total is not None:
        against = "≥" if scale.total >= TOTAL_FLOOR else "<"
        word = "合计" if lang == "zh" else "total"
        parts.append(f"{word} {human(scale.total)} {against} {human(TOTAL_FLOOR)}")
    if scale.factor is not None:
        parts.append(f"bus {scale.factor:.4g}")
    if scale.tolerance is not None:
        parts.append(f"rtol {'≤ ' if scale.tolerance else ''}{power(scale.tolerance)}")
    return " · ".join(parts)


def factor_formula(kind: Collective) -> str:
    """The bus factor of a collective as a formula."""
    return _FORMULAS.get(kind, "1")


def human(count: int) -> str:
    """Bytes in the largest unit that fits, with one decimal where it does not come out even."""
    for size, unit in ((_GB, "GB"), (MB, "MB"), (KB, "KB")):
        if count >= size:
            # Never rounded up: 65535 B is no 64 KB.
            return f"{count // size} {unit}" if count % size == 0 else f"{count * 10 // size / 10:.1f} {unit}"
    return f"{count} B"


def power(value: float) -> str:
    """A tolerance as the standard writes it: ``2^-8``, or 0."""
    if value <= 0:
        return "0"
    exponent = 0
    while value < 1 and exponent > -64:
        value *= 2
        exponent -= 1
    return f"2^{exponent}" if value == 1 else f"{value * 2.0**exponent:.6g}"
