// Where an operator stands and what keeps its gate closed, as Markdown to read.
import type { Check, OperatorStatus, PhaseState, Place } from '../protocol';

/** The words around what the server says. */
export interface Words {
  next: (text: string) => string;
  closed: string;
  open: string;
  opens: (text: string) => string;
  phases: string;
  states: Record<PhaseState['state'], string>;
}

const MARKS: Record<PhaseState['state'], string> = { open: '✓', closed: '✗', skipped: '–', ahead: '·' };

/** `link` is the path of a place as previews follow it, null where there is nothing to go to. */
export function gateText(status: OperatorStatus, words: Words, link: (place: Place) => string | null): string {
  const phase = status.phases.find((one) => one.id === status.phase);
  const title = phase ? ` · ${plain(phase.title)}` : '';
  const lines = [`# ${plain(status.name)}${title}`, '', plain(status.why), ''];
  if (status.next) {
    lines.push(`**${words.next(plain(status.next))}**`, '');
  }
  const checks = phase?.checks ?? [];
  lines.push(`## ${checks.length ? words.closed : words.open}`, '');
  for (const check of checks) {
    lines.push(...checkLines(check, words, link));
  }
  lines.push(`## ${words.phases}`, '');
  for (const one of status.phases) {
    const here = one.id === status.phase ? '**' : '';
    const why = one.why ? `: ${plain(one.why)}` : '';
    lines.push(`- ${MARKS[one.state]} ${here}${plain(one.title)}${here} (${words.states[one.state]})${why}`);
  }
  return `${lines.join('\n')}\n`;
}

function checkLines(check: Check, words: Words, link: (place: Place) => string | null): string[] {
  const lines = [`### ✗ ${plain(check.title)}`, '', plain(check.detail), ''];
  if (check.opens) {
    lines.push(words.opens(plain(check.opens)), '');
  }
  const path = check.place && link(check.place);
  if (check.place && path) {
    const line = check.place.line + 1;
    const name = decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
    lines.push(`[${plain(name)}:${line}](${path}#L${line})`, '');
  }
  return lines;
}

/** Text that Markdown would read as something else; code in backticks stays code. */
function plain(text: string): string {
  return text
    .split(/(`[^`\n]*`)/)
    .map((part, index) => (index % 2 ? part : part.replaceAll(/[\\*_<>[\]#]/g, '\\$&')))
    .join('')
    .trim();
}
