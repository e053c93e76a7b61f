/**
 * `npm run build`: compiles the sources with tsc and bundles the programs. The first build takes a while, so it says what
 * it does; later builds compile what has changed and print errors only.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const first = !existsSync(join(root, 'dist/bundle/fingerprint'));

/** Says on the first build alone what happens. */
function say(text) {
  if (first) console.log(text);
}

function run(...args) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

if (!existsSync(join(root, 'node_modules/typescript'))) {
  console.error('The packages are not installed: run `npm ci` first.');
  process.exit(1);
}
const started = performance.now();
say('Building MegaNest. The first build takes about a minute; later builds take seconds.');
say('  compiling the sources …');
run(createRequire(import.meta.url).resolve('typescript/bin/tsc'), '-p', 'tsconfig.build.json');
say('  bundling the programs …');
run('tools/bundle.mjs');
say(`  done after ${Math.round((performance.now() - started) / 1000)} s`);
