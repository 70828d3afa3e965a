// Histogram and heat map of one output's errors; the same scales as the command's HTML report.
import { error } from '../shared/numbers';
import { h } from '../shared/dom';
import { svg } from '../shared/svg';
import type { Heat, Histogram, Value } from './document';

type Texts = Record<string, string>;
const WIDE = 460;
const HIGH = 170;
const LEFT = 46;
const BOTTOM = 26;
const LABEL = 40;
const WIDEST = 60;
const MAP = 460;

/** Bars on a logarithmic scale of counts, one for each power of two. */
export function histogram(found: Histogram, texts: Texts): Element {
  const { bins } = found;
  if (!bins.length) {
    return h('p', { class: 'muted' }, (texts.noErrors ?? '').replace('{0}', String(found.exact)));
  }
  const top = Math.max(Math.log10(Math.max(...bins.map((bin) => bin.count)) + 1), 0.3);
  const step = Math.min((WIDE - LEFT) / bins.length, WIDEST);
  const plot = HIGH - BOTTOM - 10;
  const parts: Element[] = [];
  for (let power = 0; power <= Math.ceil(top); power += 1) {
    if (power <= top) {
      const y = plot - ((plot - 10) * power) / top;
      parts.push(svg('line', { class: 'axis', x1: LEFT, x2: WIDE, y1: y, y2: y }));
      parts.push(svg('text', { x: LEFT - 4, y: y + 4, 'text-anchor': 'end' }, power < 4 ? String(10 ** power) : `1e${power}`));
    }
  }
  const every = Math.max(1, Math.ceil(LABEL / step));
  bins.forEach((bin, at) => {
    const x = LEFT + at * step;
    const size = ((plot - 10) * Math.log10(bin.count + 1)) / top;
    if (bin.count) {
      const span = bin.high === null ? `≥ ${error(bin.low)}` : `${error(bin.low)} – ${error(bin.high)}`;
      const place = { x: x + step * 0.08, y: plot - size, width: Math.max(step * 0.84, 1), height: size };
      parts.push(svg('rect', { class: 'bar', ...place }, svg('title', {}, `${span}: ${bin.count}`)));
    }
    if (at % every === 0) {
      parts.push(svg('text', { x, y: HIGH - 12 }, bin.low === 0 ? '0' : `2^${Math.round(Math.log2(bin.low))}`));
    }
  });
  const label = `${found.kind === 'absolute' ? (texts.absolute ?? '') : (texts.relative ?? '')}: ${bins
    .filter((bin) => bin.count)
    .map((bin) => `≥ ${error(bin.low)} ${bin.count}`)
    .join(', ')}`;
  return svg('svg', { class: 'chart', viewBox: `0 0 ${WIDE} ${HIGH}`, width: WIDE, height: HIGH, role: 'img', 'aria-label': label }, ...parts);
}

/** Cells as dark as their largest error (logarithmic); cells that are out of tolerance in the colour of errors. */
export function heat(found: Heat, label: string, texts: Texts): Element {
  const [down, across] = found.grid;
  const wide = MAP / across;
  const high = Math.max(Math.min(MAP / down, wide), Math.min(18, 220 / down));
  const seen = found.worst.flat().map(sizeOf).filter((value) => value > 0);
  const [low, top] = seen.length ? [Math.log10(min(seen)), Math.log10(max(seen))] : [0, 0];
  const cells: Element[] = [];
  found.worst.forEach((line, row) => {
    line.forEach((value, column) => {
      const bad = found.mismatches[row]?.[column] ?? 0;
      const size = sizeOf(value);
      if (size > 0 || bad > 0) {
        const share = size > 0 && top > low ? (Math.log10(size) - low) / (top - low) : 1;
        const shade = (0.15 + 0.85 * share) * (bad ? 1 : 0.45);
        const title = `[${row * found.tile[0]}, ${column * found.tile[1]}]  MaxAE ${error(value)}  ✗ ${bad}`;
        const place = { x: column * wide, y: row * high, width: wide, height: high };
        cells.push(svg('rect', { class: bad ? 'cell bad' : 'cell', ...place, 'fill-opacity': shade.toFixed(2) }, svg('title', {}, title)));
      }
    });
  });
  cells.push(svg('rect', { class: 'frame', x: 0, y: 0, width: MAP, height: down * high }));
  const size = { viewBox: `-1 -1 ${MAP + 2} ${down * high + 2}`, width: MAP + 2, height: down * high + 2 };
  const scale = `${found.view.join(' × ')}, ${texts.tile ?? ''} ${found.tile.join(' × ')}`;
  return h('figure', {}, svg('svg', { class: 'chart', ...size, role: 'img', 'aria-label': label }, ...cells), h('figcaption', { class: 'muted' }, scale));
}

/** Inf is as bad as can be; what is no number on one side has no size of its own. */
function sizeOf(value: Value): number {
  return typeof value === 'number' ? value : value === 'inf' ? 1e300 : 0;
}

const min = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b));
const max = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b));
