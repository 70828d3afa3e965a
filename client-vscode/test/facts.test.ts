import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gateFacts, runFacts } from '../src/assistant/facts';
import { gateText } from '../src/documents/gate';
import type { OperatorStatus, RunEvent, RunRecord } from '../src/protocol';

const STATUS: OperatorStatus = {
  root: 'file:///w/custom-ops/demo',
  name: 'demo',
  workflow: 'shmem',
  phase: '1',
  row: 3,
  why: 'docs/design.md has <open> places',
  next: 'run `opdev gate 1`',
  worker: 'person',
  complete: false,
  place: null,
  phases: [
    { id: '0', title: 'intake', runs: true, state: 'open', why: '', checks: [] },
    {
      id: '1',
      title: 'design',
      runs: true,
      state: 'closed',
      why: '',
      checks: [
        {
          id: 'dsl',
          title: 'DSL',
          state: 'failed',
          detail: 'n_pes is *missing*',
          opens: 'write it',
          place: { uri: 'file:///w/custom-ops/demo/docs/design.md', line: 11 },
        },
      ],
    },
    { id: '2', title: 'test scripts', runs: true, state: 'ahead', why: '', checks: [] },
  ],
  running: [],
};
const WORDS = {
  next: (text: string): string => `Next: ${text}`,
  closed: 'Closed by',
  open: 'Open',
  opens: (text: string): string => `Opens: ${text}`,
  phases: 'Phases',
  states: { open: 'open', closed: 'closed', skipped: 'skipped', ahead: 'ahead' },
};

test('a gate reads as Markdown: nothing of it is taken for markup, and places are links', () => {
  const text = gateText(STATUS, WORDS, () => '/custom-ops/demo/docs/design.md');
  assert.match(text, /^# demo · design$/m);
  assert.match(text, /has \\<open\\> places/);
  assert.match(text, /\*\*Next: run `opdev gate 1`\*\*/);
  assert.match(text, /n\\_pes is \\\*missing\\\*/);
  assert.match(text, /\[design\.md:12\]\(\/custom-ops\/demo\/docs\/design\.md#L12\)/);
  // Nothing to go to, no link.
  assert.doesNotMatch(gateText(STATUS, WORDS, () => null), /\]\(/);
  assert.match(text, /^- ✗ \*\*design\*\* \(closed\)$/m);
});

test('a gate that is open says so', () => {
  const open = { ...STATUS, phase: '0' };
  assert.match(gateText(open, WORDS, () => null), /^## Open$/m);
});

test('an assistant is told what closes a gate, where, and what opens it', () => {
  const text = gateFacts(STATUS);
  assert.match(text, /phase: 1 \(design\)/);
  assert.match(text, /- dsl: DSL\. n_pes is \*missing\* \(file:\S+design\.md:12\) opens: write it/);
});

test('an assistant is told why a run failed, and that a simulation measures nothing', () => {
  const record: RunRecord = {
    run: 'r1', root: STATUS.root, operator: 'demo', state: 'failed', request: '4', phase: '4', step: null, executor: 'sim',
    backend: 'sim', pes: 2, started: 0, ended: 1, message: '', resumeOf: null,
  };
  const event = (type: string, fields: Record<string, unknown>): RunEvent => ({
    v: 1, seq: 0, time: 0, run: 'r1', executor: 'sim', backend: 'sim', type, ...fields,
  });
  const events = [
    event('diagnostic', { severity: 'warning', path: 'a.cpp', line: 1, message: 'no' }),
    event('diagnostic', { severity: 'error', path: 'a.cpp', line: 3, message: 'bad' }),
    event('diagnosis', { rank: 0, cause: { zh: '因', en: 'wrong order' }, next: { zh: '做', en: 'swap them' } }),
  ];
  const last = { run: 'r1', backend: 'sim', time: 0, verdict: 'FAIL', text: '', expected: 'rtol=0\nidx=3: 1', actual: 'MaxAE=1\nidx=3: 2' };
  const one = { id: 'a', purpose: '', category: null, dtype: null, tier: null, pes: 2, shape: null, place: { uri: '', line: 0 }, last };
  const text = runFacts(record, events, { cases: [one], origin: 'json', complete: true, picks: 'some' });
  assert.match(text, /no measurement of hardware/);
  assert.match(text, /- error a\.cpp:3: bad/);
  assert.doesNotMatch(text, /warning|因/);
  assert.match(text, /cause: wrong order next: swap them/);
  assert.match(text, /case a: FAIL; expected rtol=0, idx=3: 1; actual MaxAE=1, idx=3: 2/);
});
