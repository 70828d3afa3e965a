// Figures over message size, drawn by uPlot in the theme's colours; drawn anew when theme or width change.
import uPlot from 'uplot';
import { h } from '../shared/dom';
import { bytes, shown } from '../shared/numbers';
import type { Line } from './model';

const HIGH = 260;
const LOGARITHMIC = 3 as unknown as uPlot.Scale.Distr;
const COLOURS = ['blue', 'green', 'orange', 'purple', 'yellow', 'red'];

/** uPlot gives null where the pointer is nowhere, whatever its types say. */
function sized(size: number | null): string {
  return size === null ? '–' : bytes(size);
}

export class Chart {
  readonly element = h('div', { class: 'plot', role: 'img' });
  private plot: uPlot | undefined;
  private lines: readonly Line[] = [];
  private metric = '';
  private target = '';
  private size = '';
  private mark = '';
  private width = 0;

  constructor() {
    // VS Code writes its colours into the root's style, and the kind of theme into the body's class.
    const themed = new MutationObserver(() => this.redraw());
    themed.observe(document.documentElement, { attributes: true, attributeFilter: ['style', 'class'] });
    themed.observe(document.body, { attributes: true, attributeFilter: ['class', 'data-vscode-theme-id'] });
    matchMedia('(forced-colors: active)').addEventListener('change', () => this.redraw());
    new ResizeObserver(() => {
      if (this.element.clientWidth !== this.width) {
        this.redraw();
      }
    }).observe(this.element);
  }

  show(lines: readonly Line[], metric: string, target: string, size: string): void {
    const mark = JSON.stringify([lines.map((line) => [line.label, line.kind, [...line.points]]), metric, target, size]);
    if (mark !== this.mark) {
      this.mark = mark;
      [this.lines, this.metric, this.target, this.size] = [lines, metric, target, size];
      this.redraw();
    }
  }

  private redraw(): void {
    this.plot?.destroy();
    this.plot = undefined;
    this.width = this.element.clientWidth;
    const sizes = [...new Set(this.lines.flatMap((line) => [...line.points.keys()]))].sort((a, b) => a - b);
    if (!sizes.length || !this.width) {
      return;
    }
    const values = this.lines.map((line) => sizes.map((size) => line.points.get(size) ?? null));
    const named = this.lines.map((line) => this.name(line));
    this.element.setAttribute(
      'aria-label',
      `${this.metric}: ${this.lines.map((line, index) => `${named[index] ?? ''}: ${[...line.points].map(([size, value]) => `${bytes(size)} ${shown(value)}`).join(', ')}`).join('; ')}`,
    );
    this.plot = new uPlot(this.options(named), [sizes, ...values], this.element);
  }

  private name(line: Line): string {
    return line.kind === 'target' ? `${this.target} ${line.label}` : line.label;
  }

  private options(named: readonly string[]): uPlot.Options {
    const style = getComputedStyle(document.documentElement);
    // A system of few colours: the theme's would vanish on its ground.
    const forced = matchMedia('(forced-colors: active)').matches;
    const colour = (name: string, other = 'gray'): string =>
      forced ? (name === 'editor-background' ? 'Canvas' : 'CanvasText') : style.getPropertyValue(`--vscode-${name}`).trim() || other;
    const body = getComputedStyle(document.body);
    const font = `${body.fontSize} ${body.fontFamily}`;
    const [ink, paper] = [colour('foreground', body.color), colour('editor-background', body.backgroundColor)];
    const grid = colour('panel-border', colour('contrastBorder'));
    // Where lines are as bright as text, those behind the figures are broken ones.
    const dash = document.body.className.includes('high-contrast') || forced ? [1, 5] : [];
    const axis = { stroke: ink, grid: { stroke: grid, width: 1, dash }, ticks: { stroke: grid, width: 1 }, font, labelFont: font };
    return {
      width: this.width,
      height: HIGH,
      // A single size has room on both sides, and bandwidth begins at nothing.
      scales: { x: { time: false, distr: LOGARITHMIC, log: 2, range: (_, low, high) => [low / 2, high * 2] }, y: { range: (_, __, high) => [0, high * 1.1 || 1] } },
      axes: [
        { ...axis, values: (_, splits) => splits.map(sized), space: 70 },
        { ...axis, label: this.metric, size: 70, values: (_, splits) => splits.map((value) => String(Number(value.toPrecision(4)))) },
      ],
      series: [
        { label: this.size, value: (_, size) => sized(size) },
        ...this.lines.map((line, index): uPlot.Series => {
          const drawn = line.kind === 'target' ? colour('charts-red') : line.kind === 'baseline' ? ink : colour(`charts-${COLOURS[index % COLOURS.length] ?? 'blue'}`);
          const broken = line.kind === 'target' ? { dash: [6, 4] } : forced && index ? { dash: [12, 3 * index] } : {};
          return {
            label: named[index] ?? '', stroke: drawn, width: 2, spanGaps: true, ...broken,
            points: { show: true, size: 7, fill: line.kind === 'target' ? paper : drawn }, value: (_, value) => shown(value),
          };
        }),
      ],
    };
  }
}
