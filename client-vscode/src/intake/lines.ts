// Texts of a quick pick, which cuts what is longer than a line.

const WIDE_LETTER = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]/;
/** What no line begins with. */
const CLOSING = /^[，。；：、！？）》」”’…,.;:!?)\]]/;

const columns = (text: string): number => Array.from(text).reduce((sum, one) => sum + (WIDE_LETTER.test(one) ? 2 : 1), 0);

/** Lines of at most so many columns: broken at blanks, and between Chinese letters; a path stays whole. */
export function lineByLine(text: string, most: number): string[] {
  const pieces = text.match(/\s*(?:[\u2e80-\ua4cf\uff00-\uff60]|[^\s\u2e80-\ua4cf\uff00-\uff60]+)/g) ?? [];
  const lines: string[] = [];
  let line = '';
  for (const piece of pieces) {
    if (line && columns(line + piece) > most && !CLOSING.test(piece.trim())) {
      lines.push(line.trim());
      line = piece.trimStart();
    } else {
      line += piece;
    }
  }
  return line.trim() ? [...lines, line.trim()] : lines;
}

/** What an option says in brackets at its end has a line of its own. */
export function parted(label: string): { label: string; detail?: string } {
  const found = /^(.+?)\s*[(（](.+)[)）]$/.exec(label);
  return found?.[1] && found[2] ? { label: found[1], detail: found[2] } : { label };
}
