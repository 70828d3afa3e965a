// Tables that fit a narrow panel: short headings with their units, and rows that become blocks where columns have no room.
import { h } from './dom';

/** A column's heading; `field` is the full name that reports and the command line have for it. */
export interface Column {
  readonly text: string;
  readonly unit?: string;
  readonly field?: string;
}

/** A heading, aligned to the right above numbers. */
export function heading({ text, unit, field }: Column, isNumber: boolean): HTMLElement {
  const full = field && [field, unit && `(${unit})`].filter(Boolean).join(' ');
  return h(
    'th',
    { scope: 'col', class: isNumber ? 'number' : '', title: full, 'data-field': field },
    ...breakable(text),
    unit !== undefined && h('span', { class: 'unit' }, ` ${unit}`),
  );
}

/** Rows whose cells know what they are called, for a panel too narrow for columns. */
export function labelled(rows: readonly HTMLElement[], columns: readonly Column[]): HTMLElement[] {
  for (const row of rows) {
    columns.forEach(({ text, unit }, index) => {
      row.children[index]?.setAttribute('data-label', [text, unit].filter(Boolean).join(' '));
    });
  }
  return [...rows];
}

/** A long name may be broken behind its underscores. */
export function breakable(name: string): (string | HTMLElement)[] {
  return name.split(/(?<=_)/).flatMap((part, index) => (index ? [h('wbr'), part] : [part]));
}
