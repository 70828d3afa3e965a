// What assistants are told: facts of the server and the CLI, short enough to be read by them.
import type { CasesResult, OperatorStatus, RunEvent, RunRecord } from '../protocol';

const MOST_CHECKS = 30;
const MOST_CASES = 50;
const MOST_CHARACTERS = 20_000;

/** A gate as text: where the operator is, what keeps the gate closed and what opens it. */
export function gateFacts(status: OperatorStatus): string {
  const phase = status.phases.find((one) => one.id === status.phase);
  const lines = [`operator: ${status.name}`, `phase: ${status.phase} (${phase?.title ?? ''})`, status.why, `next: ${status.next}`];
  const checks = phase?.checks ?? [];
  lines.push(checks.length ? `the gate is closed by ${checks.length} checks:` : 'nothing keeps the gate closed');
  for (const check of checks.slice(0, MOST_CHECKS)) {
    const place = check.place ? ` (${check.place.uri}:${check.place.line + 1})` : '';
    lines.push(`- ${check.id}: ${check.title}. ${check.detail}${place} opens: ${check.opens}`);
  }
  return clipped(lines.join('\n'));
}

/** A run as text: how it ended, why, and the cases that did not pass. */
export function runFacts(record: RunRecord, events: readonly RunEvent[], cases: CasesResult): string {
  const lines = [
    `run ${record.run} of ${record.operator}: ${record.request}, ${record.state}`,
    `executor: ${record.executor}, backend: ${record.backend}${record.backend === 'sim' ? ' (CPU stand-in: no measurement of hardware)' : ''}`,
  ];
  if (record.message) {
    lines.push(record.message);
  }
  for (const event of events) {
    const text = told(event);
    if (text) {
      lines.push(text);
    }
  }
  const failed = cases.cases.filter((one) => one.last?.run === record.run && one.last.verdict !== 'PASS');
  for (const one of failed.slice(0, MOST_CASES)) {
    const { verdict, expected, actual } = one.last ?? { verdict: '', expected: '', actual: '' };
    lines.push(`- case ${one.id}: ${verdict}; expected ${flat(expected)}; actual ${flat(actual)}`);
  }
  return clipped(lines.join('\n'));
}

function told(event: RunEvent): string {
  switch (event.type) {
    case 'diagnostic':
      return event.severity === 'error' ? `- error ${String(event.path)}:${String(event.line)}: ${String(event.message)}` : '';
    case 'fault':
      return `- fault ${String(event.fault)} ${String(event.path)}:${String(event.line)}: ${String(event.text)}`;
    case 'diagnosis':
      return event.rank === 0 ? `- cause: ${english(event.cause)} next: ${english(event.next)}` : '';
    default:
      return '';
  }
}

function english(text: unknown): string {
  return typeof text === 'object' && text !== null && 'en' in text ? String(text.en) : '';
}

function flat(text: string): string {
  return text.replaceAll('\n', ', ') || '?';
}

export function clipped(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}\n… (cut)` : text;
}
