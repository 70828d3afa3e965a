"""The charts of the HTML report as SVG text: histograms of errors and heat maps.  Colours come from the page's style."""

from __future__ import annotations

import math

from opdev.precision.model import Heat, Histogram, Number

_WIDE, _HIGH, _LEFT, _BOTTOM = 460, 170, 46, 26
_MAP = 440
_LABEL = 36
_WIDEST = 60


def histogram(found: Histogram) -> str:
    """Bars on a logarithmic scale of counts, one for each power of two."""
    bins = found.bins
    most = max(b.count for b in bins)
    top = max(math.log10(most + 1), 0.3)
    step = min((_WIDE - _LEFT) / len(bins), _WIDEST)
    plot = _HIGH - _BOTTOM
    out = [f'<svg viewBox="0 0 {_WIDE} {_HIGH}" width="{_WIDE}" height="{_HIGH}" role="img">']
    for power in range(math.ceil(top) + 1):
        if power <= top:
            y = plot - 10 - (plot - 20) * power / top
            out.append(f'<line class="axis" x1="{_LEFT}" x2="{_WIDE}" y1="{y:.1f}" y2="{y:.1f}"/>')
            out.append(
                f'<text x="{_LEFT - 4}" y="{y + 4:.1f}" text-anchor="end">{10**power if power < 4 else f"1e{power}"}</text>'
            )
    every = max(1, math.ceil(_LABEL / step))
    for at, one in enumerate(bins):
        x = _LEFT + at * step
        size = (plot - 20) * math.log10(one.count + 1) / top
        if one.count:
            span = f"{one.low:.3g} – {one.high:.3g}" if one.high is not None else f"≥ {one.low:.3g}"
            out.append(
                f'<rect class="bar" x="{x + step * 0.08:.1f}" y="{plot - 10 - size:.1f}" width="{max(step * 0.84, 1):.1f}" '
                f'height="{size:.1f}"><title>{span}: {one.count}</title></rect>'
            )
        if at % every == 0:
            low = "0" if one.low == 0 else f"2^{round(math.log2(one.low))}"
            last = ' text-anchor="end"' if x + _LABEL > _WIDE else ""
            out.append(f'<text x="{min(x + (step if last else 0), _WIDE):.1f}" y="{_HIGH - 10}"{last}>{low}</text>')
    return "".join(out) + "</svg>"


def heat(found: Heat) -> str:
    """Cells as dark as their largest error (logarithmic); cells with elements out of tolerance have a border."""
    down, across = found.grid
    wide = _MAP / across
    high = max(min(_MAP / down, wide), min(18, 220 / down))
    errors = [[_size(v) for v in row] for row in found.worst]
    seen = [v for row in errors for v in row if v > 0]
    low, top = (math.log10(min(seen)), math.log10(max(seen))) if seen else (0.0, 0.0)
    height = high * down
    out = [f'<svg viewBox="-1 -1 {_MAP + 2} {height + 2:.1f}" width="{_MAP + 2}" height="{height + 2:.0f}" role="img">']
    for row in range(down):
        for column in range(across):
            value, bad = errors[row][column], found.mismatches[row][column]
            if value <= 0 and not bad:
                continue
            share = (math.log10(value) - low) / (top - low) if value > 0 and top > low else 1.0
            shade = 0.15 + 0.85 * share
            first = row * found.tile[0], column * found.tile[1]
            place = f'x="{column * wide:.1f}" y="{row * high:.1f}" width="{wide:.1f}" height="{high:.1f}"'
            title = f"[{first[0]}, {first[1]}]  MaxAE {_shown(found.worst[row][column])}  ✗ {bad}"
            out.append(
                f'<rect class="cell" {place} fill-opacity="{shade if bad else shade * 0.45:.2f}"><title>{title}</title></rect>'
            )
    out.append(f'<rect class="frame" x="0" y="0" width="{_MAP}" height="{height:.1f}"/>')
    return "".join(out) + "</svg>"


def _size(value: Number) -> float:
    return value if not isinstance(value, str) else 1e300 if value == "inf" else 0.0


def _shown(value: Number) -> str:
    return value if isinstance(value, str) else f"{value:.3e}"
