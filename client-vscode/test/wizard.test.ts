import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Question, Reply } from '../src/intake/wizard';
import { walk } from '../src/intake/wizard';

const question = (id: string, when: Record<string, string> = {}): Question => ({
  id,
  number: null,
  field: id,
  prompt: id,
  detail: '',
  options: [],
  text: '',
  why: null,
  default: null,
  when,
});
const answer = (text: string): Reply => ({ kind: 'answer', text });

async function through(questions: Question[], replies: Reply[]): Promise<[string[], Map<string, string> | undefined]> {
  const shown: string[] = [];
  const result = await walk(questions, (asked) => {
    shown.push(asked.id);
    const next = replies.shift();
    assert.ok(next, `nothing to say to ${asked.id}`);
    return Promise.resolve(next);
  });
  return [shown, result];
}

test('questions come in their order, and one that does not apply is not asked', async () => {
  const [shown, answers] = await through(
    [question('a'), question('b', { a: '*' }), question('c')],
    [answer('none'), answer('x')],
  );
  assert.deepEqual(shown, ['a', 'c']);
  assert.deepEqual(answers, new Map([['a', 'none'], ['c', 'x']]));
});

test('one may go back, and an answer that no longer counts is forgotten', async () => {
  const [shown, answers] = await through(
    [question('a'), question('b', { a: '*' }), question('c')],
    [answer('box'), answer('/w'), { kind: 'back' }, { kind: 'back' }, answer('none'), answer('x')],
  );
  assert.deepEqual(shown, ['a', 'b', 'c', 'b', 'a', 'c']);
  assert.deepEqual(answers, new Map([['a', 'none'], ['c', 'x']]));
});

test('giving up leaves nothing', async () => {
  const [, answers] = await through([question('a'), question('b')], [answer('x'), { kind: 'cancel' }]);
  assert.equal(answers, undefined);
});
