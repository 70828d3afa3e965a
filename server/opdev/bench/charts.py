"""The charts of a batch's page as SVG text: how each level ended, speedups, durations.  Colours come from the page's style."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from opdev.bench.report import plain
from opdev.columns import clip

STATUSES = (
    "success", "unproven", "verify_failed", "baseline_failed", "verify_error", "pypto_failed", "verifier_skipped", "pending",
)  # fmt: skip
"""From left to right in a bar."""
MOST = 40
"""Bars of one chart; more are no picture any more."""
_WIDE, _LEFT, _RIGHT, _STEP, _BAR, _TOP = 400, 128, 56, 20, 13, 18
_NAME = 17
"""Terminal columns of a name: what is left of the bars, in a narrow window too."""
_PLOT = _WIDE - _LEFT - _RIGHT


def levels(found: Mapping[str, Mapping[str, int]], words: Mapping[str, str]) -> str:
    """A bar of its whole width for each level, parted by how its cases ended; ``found`` has the counts by status."""
    rows = list(found.items())[:MOST]
    out = [_open(len(rows), _TOP)]
    for row, (name, counts) in enumerate(rows):
        y = _TOP + row * _STEP
        out.append(_label(name, y))
        total, x = sum(counts.values()), float(_LEFT)
        for status in STATUSES:
            count = counts.get(status, 0)
            if not count:
                continue
            size = _PLOT * count / total
            title = escape(f"{name}: {words.get(status, status)} {count} / {total}")
            out.append(_rect(x, y, size, f"st {status}", title))
            x += size
        out.append(_value(f"{counts.get('success', 0)} / {total}", y))
    return "".join(out) + "</svg>"


def speedups(found: Sequence[tuple[str, float]]) -> str:
    """Bars from 1× on a logarithmic axis: to the right what is faster than the reference, to the left what is slower."""
    rows = [(name, value) for name, value in found if value > 0 and math.isfinite(value)][:MOST]
    if not rows:
        return ""
    low = min(math.floor(math.log10(min(value for _, value in rows))), 0)
    high = max(math.ceil(math.log10(max(value for _, value in rows))), low + 1, 0)

    def at(value: float) -> float:
        return _LEFT + _PLOT * (math.log10(value) - low) / (high - low)

    out = [_open(len(rows), _TOP)]
    bottom = _TOP + len(rows) * _STEP
    every = max(1, math.ceil((high - low) / 5))
    for power in range(low, high + 1, every):
        x = _LEFT + _PLOT * (power - low) / (high - low)
        out.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 4}" y2="{bottom}"/>')
        out.append(f'<text x="{x:.1f}" y="{_TOP - 7}" text-anchor="middle">{_power(power)}×</text>')
    one = _LEFT + _PLOT * (0 - low) / (high - low)
    for row, (name, value) in enumerate(rows):
        y, x = _TOP + row * _STEP, at(value)
        title = escape(f"{name}: {value:.4g}×")
        out += [_label(name, y), _rect(min(one, x), y, max(abs(x - one), 1.0), "fast" if value >= 1 else "slow", title)]
        out.append(_value(f"{value:.3g}×", y))
    out.append(f'<line class="even" x1="{one:.1f}" x2="{one:.1f}" y1="{_TOP - 4}" y2="{bottom}"/>')
    return "".join(out) + "</svg>"


def durations(found: Sequence[tuple[str, float, float]], words: tuple[str, str]) -> str:
    """Seconds of generation and verification behind each other, one bar for each case."""
    rows = found[:MOST]
    most = max((made + verified for _, made, verified in rows), default=0.0)
    if most <= 0:
        return ""
    out = [_open(len(rows), _TOP)]
    for row, (name, made, verified) in enumerate(rows):
        y, x = _TOP + row * _STEP, float(_LEFT)
        out.append(_label(name, y))
        for size, kind, word in ((made, "made", words[0]), (verified, "verified", words[1])):
            if size > 0:
                wide = _PLOT * size / most
                out.append(_rect(x, y, wide, kind, escape(f"{name}: {word} {size:.1f} s")))
                x += wide
        out.append(_value(f"{made + verified:.1f} s", y))
    return "".join(out) + "</svg>"


def _open(rows: int, top: int) -> str:
    high = top + rows * _STEP + 4
    return f'<svg viewBox="0 0 {_WIDE} {high}" width="{_WIDE}" height="{high}" role="img">'


def _label(name: str, y: float) -> str:
    text = escape(clip(plain(name), _NAME))
    return f'<text x="{_LEFT - 6}" y="{y + 10.5:.1f}" text-anchor="end">{text}</text>'


def _value(text: str, y: float) -> str:
    return f'<text x="{_WIDE - _RIGHT + 5}" y="{y + 10.5:.1f}">{escape(text)}</text>'


def _rect(x: float, y: float, wide: float, kind: str, title: str) -> str:
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{_BAR}"><title>{title}</title></rect>'
    )


def _power(power: int) -> str:
    return f"{10**power:g}" if -3 <= power <= 3 else f"1e{power}"
