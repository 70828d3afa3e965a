"""The charts of the page as SVG text: series over payload, bars of rounds.  Colours come from the page's style."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

_WIDE, _HIGH, _LEFT, _BOTTOM, _TOP, _RIGHT = 530, 290, 56, 38, 14, 14
COLOURS = 6


@dataclass(frozen=True, slots=True)
class Point:
    """A measured value at a payload in bytes, with the least and most of its repeats and a text to show over it."""

    x: float
    y: float
    low: float
    high: float
    title: str


@dataclass(frozen=True, slots=True)
class Curve:
    """Points of one kind; ``colour`` counts from 0, ``dashed`` is the stand-in, ``hollow`` a baseline.

    ``goal``: what is to be reached at each payload, drawn as short lines across and no points.
    """

    points: Sequence[Point]
    colour: int
    dashed: bool = False
    hollow: bool = False
    goal: bool = False


@dataclass(frozen=True, slots=True)
class Limit:
    """A line across the plot: level (``y``), or through the origin (``slope``, y by byte)."""

    label: str
    y: float | None = None
    slope: float | None = None


def curves(found: Sequence[Curve], unit: str, limits: Sequence[Limit] = (), *, logarithmic: bool = False) -> str:
    """Curves over payload (logarithmic); ``unit`` names the other axis."""
    points = [p for curve in found for p in curve.points]
    if not points:
        return ""
    xs = _Logarithmic(min(p.x for p in points) / 1.5, max(p.x for p in points) * 1.5, _LEFT, _WIDE - _RIGHT)
    levels = [limit.y for limit in limits if limit.y is not None]
    top = max([*(p.high for p in points), *levels])
    low = min([*(p.low for p in points if p.low > 0), *levels], default=top / 100)
    ys: _Logarithmic | _Linear
    if logarithmic:
        ys = _Logarithmic(low / 1.6, top * 1.6, _HIGH - _BOTTOM, _TOP)
        marks: Iterable[float] = _powers(low / 1.6, top * 1.6, 10)
    else:
        ys = _Linear(0.0, top * 1.1 or 1.0, _HIGH - _BOTTOM, _TOP)
        marks = _round_steps(top * 1.1 or 1.0)
    out = [f'<svg viewBox="0 0 {_WIDE} {_HIGH}" width="{_WIDE}" height="{_HIGH}" role="img">']
    for mark in marks:
        y = ys.at(mark)
        out.append(f'<line class="axis" x1="{_LEFT}" x2="{_WIDE - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{mark:g}</text>')
    seen = -100.0
    for mark in _powers(xs.low, xs.high, 4):
        x = xs.at(mark)
        if x - seen >= 52:
            out.append(f'<text x="{x:.1f}" y="{_HIGH - 20}" text-anchor="middle">{size(mark)}</text>')
            out.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_HIGH - _BOTTOM}"/>')
            seen = x
    out.append(f'<text x="4" y="10">{escape(unit)}</text>')
    out.append(f'<text x="{_WIDE - _RIGHT}" y="{_HIGH - 4}" text-anchor="end">payload / PE</text>')
    out += [_limit(limit, xs, ys) for limit in limits]
    for curve in found:
        out += _curve(curve, xs, ys)
    return "".join(out) + "</svg>"


def _limit(limit: Limit, xs: _Logarithmic, ys: _Logarithmic | _Linear) -> str:
    if limit.y is not None:
        a, b = (xs.low, limit.y), (xs.high, limit.y)
    else:
        slope = limit.slope or 0.0
        if slope <= 0:
            return ""
        # From the lower edge or the left one, to the upper edge or the right one.
        left, right = max(xs.low, ys.low / slope), min(xs.high, ys.high / slope)
        if left >= right:
            return ""
        a, b = (left, slope * left), (right, slope * right)
    x1, y1, x2, y2 = xs.at(a[0]), ys.at(a[1]), xs.at(b[0]), ys.at(b[1])
    anchor = f'x="{_WIDE - _RIGHT - 2}" y="{y1 - 4:.1f}" text-anchor="end"' if limit.y is not None else f'x="{(x1 + x2) / 2 + 6:.1f}" y="{(y1 + y2) / 2:.1f}"'  # fmt: skip
    return f'<line class="limit" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/><text {anchor}>{escape(limit.label)}</text>'


def _curve(curve: Curve, xs: _Logarithmic, ys: _Logarithmic | _Linear) -> list[str]:
    kind = f"c{curve.colour % COLOURS}" + (" dashed" if curve.dashed else "") + (" hollow" if curve.hollow else "")
    places = [(xs.at(p.x), ys.at(max(p.y, ys.low)), p) for p in sorted(curve.points, key=lambda p: p.x)]
    out = []
    if curve.goal:
        for x, y, p in places:
            place = f'x1="{x - 11:.1f}" x2="{x + 11:.1f}" y1="{y:.1f}" y2="{y:.1f}"'
            out.append(f'<line class="goal {kind}" {place}><title>{escape(p.title)}</title></line>')
        return out
    if len(places) > 1:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in places)
        out.append(f'<polyline class="curve {kind}" points="{path}"/>')
    for x, y, p in places:
        if p.high > p.low:
            low, high = ys.at(max(p.low, ys.low)), ys.at(p.high)
            out.append(f'<line class="spread {kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>')
        out.append(
            f'<circle class="point {kind}" cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{escape(p.title)}</title></circle>'
        )
    return out


def bars(found: Sequence[tuple[str, float, str, str]], unit: str) -> str:
    """(name, value, text above it, style) as bars from zero; a line of the text each, the last next to the bar."""
    if not found:
        return ""
    top = max(value for _, value, _, _ in found) * 1.25 or 1.0
    ys = _Linear(0.0, top, _HIGH - _BOTTOM, _TOP + 8)
    step = min((_WIDE - _LEFT - _RIGHT) / len(found), 90)
    out = [f'<svg viewBox="0 0 {_WIDE} {_HIGH}" width="{_WIDE}" height="{_HIGH}" role="img">']
    for mark in _round_steps(top):
        y = ys.at(mark)
        out.append(f'<line class="axis" x1="{_LEFT}" x2="{_WIDE - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{mark:g}</text>')
    for at, (name, value, text, kind) in enumerate(found):
        x, y = _LEFT + at * step, ys.at(value)
        out.append(f'<rect class="round {kind}" x="{x + step * 0.15:.1f}" y="{y:.1f}" width="{step * 0.7:.1f}" height="{ys.at(0) - y:.1f}"/>')  # fmt: skip
        for up, line in enumerate(reversed(text.split("\n"))):
            out.append(f'<text class="above" x="{x + step / 2:.1f}" y="{y - 5 - 12 * up:.1f}" text-anchor="middle">{escape(line)}</text>')  # fmt: skip
        out.append(f'<text x="{x + step / 2:.1f}" y="{_HIGH - 20}" text-anchor="middle">{escape(name)}</text>')
    out.append(f'<text x="4" y="10">{escape(unit)}</text>')
    return "".join(out) + "</svg>"


def errors(found: Sequence[tuple[str, float, str, str]], limit: float | None, label: str) -> str:
    """(name, error, text to show over it, style) as bars of a logarithmic scale, with the line of what is allowed.

    An error that is 0 has no bar; one that is no number reaches to the top.
    """
    real = [v for _, v, _, _ in found if 0 < v < math.inf]
    if not found:
        return ""
    levels = [*real, *([limit] if limit else [])]
    low, top = (min(levels) / 4, max(levels) * 4) if levels else (0.1, 10.0)
    low, top = max(low, 1e-306), min(top, 1e306)
    ys = _Logarithmic(low, top, _HIGH - _BOTTOM, _TOP)
    step = min((_WIDE - _LEFT - _RIGHT) / len(found), 90)
    marks = _powers(low, top, 10)
    out = [f'<svg viewBox="0 0 {_WIDE} {_HIGH}" width="{_WIDE}" height="{_HIGH}" role="img">']
    if len(marks) < 2:
        marks = [m * 10.0**p for p in range(math.floor(math.log10(low)), math.ceil(math.log10(top))) for m in (1, 2, 5)]
        marks = [mark for mark in marks if low <= mark <= top]
    for mark in marks[:: max(1, math.ceil(len(marks) / 6))]:
        y = ys.at(mark)
        out.append(f'<line class="axis" x1="{_LEFT}" x2="{_WIDE - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{mark:g}</text>')
    every = max(1, math.ceil((max(len(name) for name, _, _, _ in found) * 6.5 + 6) / step))
    for at, (name, value, text, kind) in enumerate(found):
        x = _LEFT + at * step
        y = ys.at(min(max(value, low), top)) if value == value else ys.at(top)  # noqa: PLR0124 - NaN
        place = f'x="{x + step * 0.15:.1f}" y="{y:.1f}" width="{step * 0.7:.1f}" height="{ys.at(low) - y:.1f}"'
        out.append(f'<rect class="verdict {kind}" {place}><title>{escape(f"{name}: {text}")}</title></rect>')
        if step >= 46:
            out.append(
                f'<text x="{x + step / 2:.1f}" y="{max(y - 5, 10):.1f}" text-anchor="middle">{escape(text)}</text>'
            )
        if at % every == 0:
            out.append(f'<text x="{x + step / 2:.1f}" y="{_HIGH - 20}" text-anchor="middle">{escape(name)}</text>')
    if limit:
        y = ys.at(limit)
        out.append(f'<line class="limit" x1="{_LEFT}" x2="{_WIDE - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(f'<text x="{_WIDE - _RIGHT - 2}" y="{y - 4:.1f}" text-anchor="end">{escape(label)}</text>')
    out.append('<text x="4" y="10">MaxAE</text>')
    return "".join(out) + "</svg>"


def size(count: float) -> str:
    """Bytes by powers of two: ``64 KB``."""
    for unit, one in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if count >= one:
            return f"{count / one:.4g} {unit}"
    return f"{count:.4g} B"


class _Linear:
    def __init__(self, low: float, high: float, first: float, last: float) -> None:
        self.low, self.high, self._first, self._last = low, high, first, last

    def at(self, value: float) -> float:
        return self._first + (self._last - self._first) * (value - self.low) / (self.high - self.low)


class _Logarithmic:
    def __init__(self, low: float, high: float, first: float, last: float) -> None:
        self.low, self.high, self._first, self._last = low, high, first, last

    def at(self, value: float) -> float:
        share = (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return self._first + (self._last - self._first) * share


def _powers(low: float, high: float, base: int) -> list[float]:
    first, last = math.ceil(math.log(low, base)), math.floor(math.log(high, base))
    return [float(base) ** power for power in range(first, last + 1)]


def _round_steps(top: float) -> list[float]:
    """About five round numbers from 0 to ``top``."""
    raw = top / 5
    power = 10 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw)
    return [step * n for n in range(math.floor(top / step) + 1)]
