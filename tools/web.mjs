/**
 * A step of `npm run build`: builds the web app into dist/web and compresses its files with the best compression.
 * Skips the work if neither its sources nor the packages have changed.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const sources = join(root, 'apps/web');
const built = join(root, 'dist/web');
const stamp = join(built, 'fingerprint');

const filesOf = (folder) =>
  readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .toSorted();

function fingerprint() {
  const hash = createHash('sha256');
  const inputs = [...filesOf(sources), join(root, 'package-lock.json'), fileURLToPath(import.meta.url)];
  for (const input of inputs) hash.update(input.slice(root.length)).update(readFileSync(input));
  return hash.digest('hex');
}

async function compress(path) {
  const content = readFileSync(path);
  const options = { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } };
  writeFileSync(`${path}.br`, await promisify(brotliCompress)(content, options));
  writeFileSync(`${path}.gz`, await promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }));
}

const current = fingerprint();
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== current) {
  const { build } = await import('vite');
  await build({ root: sources, configFile: join(sources, 'vite.config.ts'), logLevel: 'warn' });
  await Promise.all(filesOf(join(built, 'assets')).map(compress));
  writeFileSync(stamp, current);
}
