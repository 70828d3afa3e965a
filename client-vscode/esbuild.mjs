// Bundles the extension, its webviews and its tests.
import { build, context } from 'esbuild';
import { existsSync, readdirSync } from 'node:fs';

const has = (flag) => process.argv.includes(flag);
const production = has('--production');
const shared = { bundle: true, logLevel: 'info', minify: production, sourcemap: production ? false : 'linked' };

const files = (folder, ending) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true })
        .filter((name) => String(name).endsWith(ending))
        .map((name) => `${folder}/${name}`)
    : [];

const extension = {
  ...shared,
  entryPoints: ['src/extension.ts'],
  outfile: 'dist/extension.js',
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  external: ['vscode'],
};
const webviews = {
  ...shared,
  entryPoints: files('webview', '.main.ts').concat(files('webview', '.main.css')),
  outdir: 'dist/webview',
  platform: 'browser',
  format: 'iife',
  target: 'es2022',
};
const tests = {
  ...shared,
  minify: false,
  entryPoints: files('test', '.test.ts'),
  outdir: 'dist-test',
  outExtension: { '.js': '.cjs' },
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  // Without an editor, what needs one gets a small stand-in.
  alias: { vscode: './test/vscode.ts' },
  external: ['typescript'],
};

const wanted = has('--tests') ? [tests] : [extension, webviews].filter((one) => one.entryPoints.length);
if (has('--watch')) {
  for (const one of wanted) await (await context(one)).watch();
} else {
  await Promise.all(wanted.map((one) => build(one)));
}
