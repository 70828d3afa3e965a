import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { assistantTools } from '../src/assistant/tools';
import type { Store } from '../src/operators/store';
import type { OperatorStatus, RunEvent, RunRecord } from '../src/protocol';
import type { Server } from '../src/server/server';
import { CancellationToken, registered } from './vscode';

const operator = (name: string): OperatorStatus => ({
  root: `file:///w/custom-ops/${name}`, name, workflow: 'shmem', phase: '0', row: 1, why: `${name} has no intake`, next: 'answer', worker: 'person',
  complete: false, place: null, phases: [{ id: '0', title: 'intake', runs: true, state: 'closed', why: '', checks: [] }], running: [],
});
const record: RunRecord = {
  run: 'r1', root: operator('mover').root, operator: 'mover', state: 'failed', request: '3', phase: '3', step: null,
  executor: 'sim', backend: 'sim', pes: 2, started: 0, ended: 1, message: '', resumeOf: null,
};
const event = (seq: number, message: string): RunEvent => ({
  v: 1, seq, time: 0, run: 'r1', executor: 'sim', backend: 'sim', type: 'diagnostic', severity: 'error', path: 'a.cpp', line: 3, message,
});

/** A server that answers as the real one would, from two pages of events. */
const answers: Record<string, (asked: Record<string, unknown>) => unknown> = {
  'opdev/phaseStatus': ({ root }) => ({ operators: [{ ...operator(String(root).replace(/.*\//, '')), why: 'as it is now' }], failed: [], complete: true }),
  'opdev/runHistory': ({ root }) => ({ runs: String(root).endsWith('mover') ? [record] : [], more: false }),
  'opdev/runEvents': ({ after }) => (after === -1 ? { events: [event(0, 'first')], state: 'failed', more: true } : { events: [event(1, 'second')], state: 'failed', more: false }),
  'opdev/cases': () => ({ cases: [], origin: null, complete: true, picks: 'none' }),
};

function ask(names: readonly string[], health: unknown = { kind: 'stopped' }): (tool: string, input: Record<string, unknown>) => Promise<string> {
  registered.clear();
  const client = { sendRequest: (method: string, asked: Record<string, unknown>) => Promise.resolve(answers[method]?.(asked)) };
  assistantTools({ client, health } as unknown as Server, { operators: names.map(operator) } as unknown as Store);
  return async (tool, input) => {
    const result = await registered.get(tool)?.invoke({ input }, new CancellationToken());
    return (result as { content: { value: string }[] }).content.map((part) => part.value).join('');
  };
}

test('every tool of the manifest is registered, and no other', () => {
  ask(['mover']);
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { contributes: { languageModelTools: { name: string }[] } };
  assert.deepEqual([...registered.keys()].sort(), manifest.contributes.languageModelTools.map((one) => one.name).sort());
});

test('a gate is asked for anew, of the only operator or of the one that is named', async () => {
  assert.match(await ask(['mover'])('opdev_gate', {}), /^operator: mover\n(?:.*\n)*as it is now\n/);
  const two = ask(['mover', 'adder']);
  assert.match(await two('opdev_gate', { operator: 'adder' }), /^operator: adder\n/);
  assert.equal(await two('opdev_gate', {}), 'Name one of the operators of this workspace: mover, adder');
  assert.equal(await two('opdev_last_run', { operator: 'x' }), 'Name one of the operators of this workspace: mover, adder');
});

test('the last run is told from all of its events', async () => {
  const two = ask(['mover', 'adder']);
  const text = await two('opdev_last_run', { operator: 'mover' });
  assert.match(text, /^run r1 of mover: 3, failed\n/);
  assert.match(text, /- error a\.cpp:3: first\n- error a\.cpp:3: second/);
  assert.equal(await two('opdev_last_run', { operator: 'adder' }), 'Nothing of this operator was run yet.');
});

test('what is no rule is not handed to a command line, and without a server nothing is made up', async () => {
  const tools = ask(['mover']);
  assert.equal(await tools('opdev_explain', { rule: '--help' }), 'Name one rule, as missing-wait or SH100.');
  assert.equal(await tools('opdev_explain', {}), 'Name one rule, as missing-wait or SH100.');
  await assert.rejects(tools('opdev_explain', { rule: 'missing-wait' }), /The server is not running/);
  await assert.rejects(tools('opdev_lint', {}), /The server is not running/);
});

test('a tool that is cancelled ends its program', async () => {
  const health = { kind: 'running', found: { candidate: { python: process.execPath }, answer: { options: ['-e', 'setTimeout(() => 0, 60000)', '--'] } } };
  ask(['mover'], health);
  const token = new CancellationToken();
  const asked = registered.get('opdev_explain')?.invoke({ input: { rule: 'missing-wait' } }, token);
  token.cancel();
  await assert.rejects(asked ?? Promise.resolve(), /abort/i);
});
