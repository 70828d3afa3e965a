// Every word has both languages, and no translation is left without its word.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import ts from 'typescript';

type Words = Record<string, string>;
const words = (file: string): Words => JSON.parse(readFileSync(file, 'utf8')) as Words;
const sources = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`);
const CHINESE = /[\u4e00-\u9fff]/;

test('every %key% of the manifest is in both languages, and nothing else is', () => {
  const manifest = readFileSync('package.json', 'utf8');
  const used = [...new Set([...manifest.matchAll(/"%([\w.-]+)%"/g)].map((found) => found[1]))].sort();
  assert.deepEqual(Object.keys(words('package.nls.json')).sort(), used);
  assert.deepEqual(Object.keys(words('package.nls.zh-cn.json')).sort(), used);
});

/** First arguments of `l10n.t(…)`; what is no plain text is a fault, since nobody could translate it. */
function literals(file: string): string[] {
  const found: string[] = [];
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /(?:^|\.)l10n\.t$/.test(node.expression.getText(source))) {
      const [first] = node.arguments;
      assert.ok(first && ts.isStringLiteralLike(first), `${file}: l10n.t of something that is no literal`);
      found.push(first.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

test('every text of the code is in the Chinese bundle, and no text there is unused', () => {
  const used = [...new Set(sources('src').flatMap(literals))].sort();
  assert.ok(used.length > 40);
  const there = Object.keys(words('l10n/bundle.l10n.zh-cn.json'));
  assert.deepEqual(
    { missing: used.filter((text) => !there.includes(text)), unused: there.filter((text) => !used.includes(text)) },
    { missing: [], unused: [] },
  );
});

test('translations are Chinese, keep their places for values, and links their commands', () => {
  const places = (text: string): string[] => (text.match(/\{\d\}|command:[\w.]+/g) ?? []).sort();
  const english = words('package.nls.json');
  const pairs = [
    ...Object.entries(words('l10n/bundle.l10n.zh-cn.json')),
    ...Object.entries(words('package.nls.zh-cn.json')).map(([key, text]) => [english[key] ?? '', text] as const),
  ];
  for (const [from, to] of pairs) {
    assert.deepEqual(places(to), places(from), from);
    // Names and formats stay as they are.
    assert.ok(CHINESE.test(to) || !/[a-z]{3,} [a-z]{3,}/i.test(from), `${from}: ${to}`);
  }
});

test('no word of a page is missing', () => {
  const given = new Set(
    sources('src/panels')
      .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/^\s*(\w+): (?:vscode\.)?l10n\.t/gm)])
      .map((one) => one[1]),
  );
  const missing: string[] = [];
  for (const file of sources('webview')) {
    for (const one of readFileSync(file, 'utf8').matchAll(/\btexts(?:\.(\w+)|\['(\w+)'\])/g)) {
      const name = one[1] ?? one[2] ?? '';
      if (!given.has(name)) {
        missing.push(`${file}: ${name}`);
      }
    }
  }
  assert.deepEqual(missing, []);
});
