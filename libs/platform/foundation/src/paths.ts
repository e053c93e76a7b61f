import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json, `models/` and `megaservices/`; the same from sources and from `dist`. */
export const projectRoot = findProjectRoot(dirname(fileURLToPath(import.meta.url)));

function findProjectRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json')) && existsSync(join(folder, 'profiles'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('The project folder with package.json and profiles/ was not found.');
  return findProjectRoot(parent);
}

/**
 * Path of a program, a thread or a WebAssembly module that `npm run build` wrote, given by its name ("gateway",
 * "generator.worker", "decoder-kernels.wasm"); the same
 * from sources (tests) and from `dist`. Throws if it has not been built.
 */
export function builtFile(name: string): string {
  const path = join(projectRoot, 'dist', name.endsWith('.wasm') ? name : `${name}.js`);
  if (existsSync(path)) return path;
  throw new Error(`${path} is missing: run \`npm run build\` first.`);
}

/** The folder of the test data (CONTRIBUTING.md): `TEST_DATA`, by default the folder `shared` beside the repository. */
const testDataFolder = process.env['TEST_DATA'] ?? join(projectRoot, '..', 'shared');

/**
 * A file or folder of the test data: data sets, models and documents that tests and benchmarks use and that the
 * repository does not hold, because of their size or license. It may be absent.
 */
export function testData(...parts: string[]): string {
  return join(testDataFolder, ...parts);
}
