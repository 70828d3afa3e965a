import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineByLine, parted } from '../src/intake/lines';
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

test('what a line of the picker cannot show goes on in the next; paths stay whole', () => {
  const path = '/home/USER/CANN/8.5.0/ascend-toolkit/set_env.sh';
  const text = `If neither fits, write the full absolute path, like ${path}. Write later.`;
  const lines = lineByLine(text, 60);
  assert.equal(lines.join(' '), text);
  assert.ok(lines.every((line) => line.length <= 60) && lines.some((line) => line.includes(path)));
  assert.deepEqual(lineByLine('都不是的话，写路径。', 12), ['都不是的话，', '写路径。']);
  assert.deepEqual(lineByLine('都不是的话，写', 10), ['都不是的话，', '写']);
  assert.deepEqual(lineByLine('', 10), []);
  assert.deepEqual(parted('默认系统安装（/usr/x）'), { label: '默认系统安装', detail: '/usr/x' });
  assert.deepEqual(parted('a (b) c'), { label: 'a (b) c' });
});
