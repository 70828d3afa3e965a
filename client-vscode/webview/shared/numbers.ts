// Numbers as the command line writes them, so that both can be laid side by side.

/** So many digits behind the point; of two that are equally near the even one, as Python has it. */
export function fixed(value: number, digits: number): string {
  const size = Math.abs(value);
  if (size >= 1e15) {
    return String(value);
  }
  const long = size.toFixed(20);
  const end = long.indexOf('.') + 1 + digits;
  const kept = digits ? long.slice(0, end) : long.slice(0, end - 1);
  const tie = /^50*$/.test(long.slice(end));
  const made = tie && Number(kept.at(-1)) % 2 === 0 ? kept : size.toFixed(digits);
  return value < 0 && Number(made) !== 0 ? `-${made}` : made;
}

/** A measurement: two digits behind the point, and more where it would be 0; – where there is none. */
export function shown(value: number | null | undefined): string {
  if (value === null || value === undefined) {
    return '–';
  }
  return Math.abs(value) >= 0.01 || value === 0 ? fixed(value, 2) : String(Number(value.toPrecision(2)));
}

/** `+3.1 %`. */
export function signed(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : `${value >= 0 ? '+' : ''}${fixed(value, 1)} %`;
}

/** An error: short, with its power of ten. What is no number for JSON comes as a word. */
export function error(value: number | string | null | undefined): string {
  if (value === null || value === undefined) {
    return '–';
  }
  return typeof value === 'string' ? value : value === 0 ? '0' : value.toExponential(2);
}

/** `512 KiB`. */
export function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = value;
  let unit = 0;
  for (; size >= 1024 && unit < units.length - 1; unit += 1) {
    size /= 1024;
  }
  return `${String(Number(size.toPrecision(3)))} ${units[unit] ?? ''}`;
}

/** A line of CSV; no cell of it is a formula for a spreadsheet. */
export function csvLine(cells: readonly (string | number | null | undefined)[]): string {
  return cells
    .map((cell) => {
      const text = typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell ?? '');
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    })
    .join(',');
}
