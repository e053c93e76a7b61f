/**
 * `npm run build` after tsc: bundles every program and every thread with the packages that it uses into dist/bundle, since
 * to find, read and link 1,700 small modules takes most of a service's start (docs/decisions/0195). Nothing is done where
 * neither the sources nor the packages changed.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const compiled = join(root, 'dist');
const bundled = join(compiled, 'bundle');

/** Packages with native parts or with files that they find beside themselves. */
const external = ['onnxruntime-node', 'onnxruntime-common', 'libflacjs', /^@electric-sql\//];

/** Of transformers.js only the tokenizers are used. Its own bundle cannot be taken apart, its sources can. */
const transformers = join(root, 'node_modules/@xenova/transformers/src/transformers.js');

/**
 * Left out where nothing of it is used: our libs, which programs name through one index each, and of transformers.js
 * image codecs, models and the runtime for browsers.
 */
const withoutSideEffects = [
  /^(sharp|onnxruntime-\w+)(\/|$)/,
  /[\\/]node_modules[\\/](@xenova[\\/]transformers|@huggingface)[\\/]/,
  /[\\/]dist[\\/]libs[\\/]/,
];

/** tsc leaves what it made of sources that are gone; that is no program any more. */
const isEntry = (path) =>
  /^(apps\/.*\/main|(apps|libs)\/.*\.worker)\.js$/.test(path.replaceAll('\\', '/')) &&
  existsSync(join(root, path.replace(/js$/, 'ts')));

/** `apps/<name>/src/main.js` is <name>, any other main.js goes by its folder's name, a thread by its file's. */
function nameOf(entry) {
  const [, app] = /^apps\/([^/]+)\/src\/main\.js$/.exec(entry.replaceAll('\\', '/')) ?? [];
  return app ?? (basename(entry) === 'main.js' ? basename(dirname(entry)) : basename(entry, '.js'));
}

/** Traces lead to our TypeScript; packages need no map, and every process reads its maps when it starts. */
const mapsOfOurOwn = {
  name: 'maps-of-our-own',
  async load(id) {
    if (!id.endsWith('js') || id.startsWith('\0')) return null;
    const code = await readFile(id, 'utf8');
    if (!id.startsWith(compiled)) return { code, map: { version: 3, sources: [], names: [], mappings: '' } };
    return { code, map: JSON.parse(await readFile(`${id}.map`, 'utf8')) };
  },
};

/** What frameworks load only if it is there stays out; anything else that is missing is an error. */
function judgeLog(level, log, handle) {
  const optional = log.code === 'UNRESOLVED_IMPORT' && / in \S*node_modules[\\/]/.test(log.message);
  if (!optional) handle(level === 'warn' ? 'error' : level, log);
}

async function bundle(entries) {
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries.map((entry) => [nameOf(entry), join(compiled, entry)])),
    platform: 'node',
    external,
    resolve: { alias: { '@xenova/transformers': transformers } },
    treeshake: { moduleSideEffects: (id) => !withoutSideEffects.some((pattern) => pattern.test(id)) },
    plugins: [mapsOfOurOwn],
    onLog: judgeLog,
  });
  await build.write({
    dir: bundled,
    cleanDir: true,
    format: 'esm',
    // Names of classes are in messages and logs.
    keepNames: true,
    comments: { legal: true, annotation: false, jsdoc: false },
    sourcemap: true,
    sourcemapExcludeSources: true,
  });
  await build.close();
}

/** Changes with our sources (tsc's notes), with the installed packages, and with this file. */
function fingerprint() {
  const inputs = [
    join(compiled, 'build.tsbuildinfo'),
    join(root, 'package-lock.json'),
    fileURLToPath(import.meta.url),
  ];
  const hash = createHash('sha256');
  for (const input of inputs) hash.update(readFileSync(input));
  return hash.digest('hex');
}

const stamp = join(bundled, 'fingerprint');
const current = fingerprint();
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== current) {
  await bundle(readdirSync(compiled, { recursive: true }).filter(isEntry));
  writeFileSync(stamp, current);
}
