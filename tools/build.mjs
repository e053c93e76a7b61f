/**
 * `npm run build`: bundles each program and each thread, with the packages that it uses, from TypeScript into
 * dist/<name>.js (docs/design/build-and-api-documents.md), and AssemblyScript into dist/<name>.wasm. Skips the work if neither sources nor packages have changed.
 * `tsc` checks types and writes nothing.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
if (!existsSync(join(root, 'node_modules/rolldown'))) {
  console.error('The packages are not installed: run `npm ci` first.');
  process.exit(1);
}
const { rolldown } = await import('rolldown');
const dist = join(root, 'dist');

/** Files of the source folders, relative to the root, with forward slashes. Benchmarks also import support of tests; attacks have a thread. */
const sources = ['apps', 'libs', 'bench', 'templates', 'tools', 'test/support', 'test/attacks']
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((path) =>
      join(folder, path).replaceAll(sep, '/'),
    ),
  )
  .filter(
    (path) => /\.(ts|mjs)$/.test(path) && !path.includes('node_modules/') && !path.startsWith('apps/web/'),
  )
  .toSorted();

/** Each of these becomes dist/<name>.js. */
const entryPatterns = [
  [/^apps\/([^/]+)\/src\/main\.ts$/, (name) => name],
  [/^templates\/([^/]+)\/main\.ts$/, (name) => name],
  [/^bench\/(?:([^/]+)\/)?main\.ts$/, (name) => (name ? `bench-${name}` : 'bench')],
  [/^bench\/services\/(bare-relay|step-service)\.ts$/, (name) => name],
  [/^tools\/(asyncapi|compile|evaluate-speech|export-model|quantize-checkpoint)\.mjs$/, (name) => name],
  [/^tools\/training\/(reader)\/fit\.mjs$/, (name) => `fit-${name}`],
  [/^tools\/training\/(reader)\/passages\.mjs$/, (name) => `passages-${name}`],
  [/^(?:apps|libs)\/.*\/([^/]+)\/main\.ts$/, (name) => name],
  [/\/([^/]+\.worker)\.ts$/, (name) => name],
  [/\/(exit-with-parent)\.ts$/, (name) => name],
];

/**
 * Packages with native parts or with files that they load from their own folder; and reflect-metadata, which has to run
 * before the decorators of the packages that import it.
 */
const externalPackages =
  /^(onnxruntime-node|onnxruntime-common|libflacjs|opusscript|reflect-metadata|@electric-sql\/.*|@jsquash\/.*|@hyzyla\/pdfium)$/;

/** Modules without side effects, which are left out if unused. Programs import our libs through one index each. */
const withoutSideEffects = /^onnxruntime-\w+(\/|$)/;
const libsFolder = join(root, 'libs') + sep;
const exitWithParent = /[\\/]exit-with-parent\.ts$/;
const benchFolder = join(root, 'bench') + sep;

/** Returns the entries by name. Throws if two sources would be written to the same file. */
function findEntries() {
  const entries = {};
  for (const source of sources) {
    const [pattern, toName] = entryPatterns.find(([candidate]) => candidate.test(source)) ?? [];
    if (!pattern) continue;
    const [, captured] = pattern.exec(source);
    const name = toName(captured);
    if (entries[name]) throw new Error(`${source} and ${entries[name]} would both be dist/${name}.js.`);
    entries[name] = source;
  }
  return entries;
}

/** Source maps cover our own code only: Node would read megabytes of maps for packages in each process. */
const mapsOfOurOwn = {
  name: 'maps-of-our-own',
  load: {
    filter: { id: /[\\/]node_modules[\\/].*js$/ },
    async handler(id) {
      if (id.startsWith('\0')) return null;
      return {
        code: await readFile(id, 'utf8'),
        map: { version: 3, sources: [], names: [], mappings: '' },
      };
    },
  },
};

/** The benchmarks measure other libraries as they are installed. */
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const measuredPackages = [...Object.keys(devDependencies), '@xenova/transformers'];

function isExternal(id, importer) {
  if (externalPackages.test(id)) return true;
  if (!importer?.startsWith(benchFolder)) return false;
  return measuredPackages.some((name) => id === name || id.startsWith(`${name}/`));
}

/** Optional packages of frameworks are left out; any other missing package is an error. */
function judgeLog(level, log, handle) {
  const optional = log.code === 'UNRESOLVED_IMPORT' && / in \S*node_modules[\\/]/.test(log.message);
  if (!optional) handle(level === 'warn' ? 'error' : level, log);
}

async function bundle() {
  const build = await rolldown({
    cwd: root,
    input: findEntries(),
    platform: 'node',
    external: isExternal,
    tsconfig: join(root, 'tsconfig.json'),
    transform: { target: 'node20.19' },
    treeshake: {
      moduleSideEffects: (id) =>
        exitWithParent.test(id) || (!id.startsWith(libsFolder) && !withoutSideEffects.test(id)),
    },
    plugins: [mapsOfOurOwn],
    onLog: judgeLog,
  });
  await build.write({
    dir: dist,
    format: 'esm',
    chunkFileNames: 'chunks/[name]-[hash].js',
    // Messages and logs contain names of classes.
    keepNames: true,
    comments: { legal: true, annotation: false, jsdoc: false },
    sourcemap: true,
    sourcemapExcludeSources: true,
  });
  await build.close();
}

/** Without a runtime of AssemblyScript, over a memory of up to 4 GiB that threads share; 112: v128 across functions. */
const kernelOptions = [
  '-O3 --noAssert --runtime stub --enable simd --enable threads --importMemory',
  '--sharedMemory --maximumMemory 65536 --disableWarning 112',
].flatMap((options) => options.split(' '));
const kernelVariants = [
  { suffix: '', options: kernelOptions },
  { suffix: '-relaxed', options: [...kernelOptions, '--enable', 'relaxed-simd'] },
];

/**
 * Compiles each wasm/<name>-kernels.ts, which is AssemblyScript, to dist/<name>-kernels.wasm, and with relaxed SIMD to
 * dist/<name>-kernels-relaxed.wasm if its folder has a relaxed-*.ts. Throws with the compiler's messages.
 */
async function compileKernels() {
  const { default: asc } = await import('assemblyscript/asc');
  for (const source of sources.filter((path) => /\/wasm\/[^/]+-kernels\.ts$/.test(path))) {
    const hasRelaxed = sources.some((path) => path.startsWith(`${dirname(source)}/relaxed-`));
    for (const { suffix, options } of hasRelaxed ? kernelVariants : kernelVariants.slice(0, 1)) {
      const target = join('dist', `${basename(source, '.ts')}${suffix}.wasm`);
      const messages = [];
      const stderr = { write: (text) => messages.push(text) };
      const { error } = await asc.main([source, '-o', target, '--baseDir', root, ...options], { stderr });
      if (error) throw new Error(messages.join(''));
    }
  }
}

/** Changes with the sources, the installed packages and the configuration. */
function fingerprint() {
  const hash = createHash('sha256');
  for (const input of [...sources, 'package.json', 'package-lock.json', 'tsconfig.json'])
    hash.update(`${input}\0`).update(readFileSync(join(root, input)));
  return hash.digest('hex');
}

const stamp = join(dist, 'fingerprint');
const current = fingerprint();
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== current) {
  const isFirst = !existsSync(stamp);
  if (isFirst) console.log('Building MegaNest. This takes a few seconds.');
  mkdirSync(dist, { recursive: true });
  // tools/web.mjs builds the web app, into dist/web.
  for (const name of readdirSync(dist).filter((each) => each !== 'web'))
    rmSync(join(dist, name), { recursive: true });
  await bundle();
  await compileKernels();
  writeFileSync(stamp, current);
}
