import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileDigest } from './checkpoint/file-digest.js';
import { listWeightFiles } from './checkpoint/safetensors.js';

/** A part of every cache key; raise it when the written graphs change. */
export const compilerVersion = 10;

const descriptionFile = 'compiled.json';
const temporaryPrefix = '.compiling-';
const oneDay = 86_400_000;

/** SHA-256 of the compiler's version, its options, and the hashes of config.json and of all weight files. */
async function contentHash(modelDirectory: string, cacheDir: string, options: object): Promise<string> {
  const config = await readFile(join(modelDirectory, 'config.json'), 'utf8');
  const weights: string[] = [];
  for (const file of await listWeightFiles(modelDirectory)) weights.push(await fileDigest(file, cacheDir));
  return createHash('sha256')
    .update(JSON.stringify([compilerVersion, options, config, weights]))
    .digest('hex');
}

/** A compiled model, and the description that its compilation returned. */
export interface Compiled<Description extends object> {
  readonly directory: string;
  readonly description: Description;
}

async function cacheDirectory(modelDirectory: string, cacheDir: string, options: object): Promise<string> {
  const hash = await contentHash(modelDirectory, cacheDir, options);
  return join(cacheDir, `${basename(modelDirectory)}-v${compilerVersion}-${hash.slice(0, 16)}`);
}

/** Finds what {@link compileOnce} has compiled before. */
export async function findCompiled<Description extends object>(
  modelDirectory: string,
  cacheDir: string,
  options: object,
): Promise<Compiled<Description> | undefined> {
  const directory = await cacheDirectory(modelDirectory, cacheDir, options);
  if (!existsSync(join(directory, descriptionFile))) return undefined;
  const text = await readFile(join(directory, descriptionFile), 'utf8');
  return { directory, description: JSON.parse(text) as Description };
}

/**
 * Compiles a model once. Returns its directory under `cacheDir`, and the description that `compile` returned.
 * `compile` writes into a temporary directory that is renamed at the end, so that a process that dies, or that
 * compiles the same model concurrently, does not leave a partial model.
 */
export async function compileOnce<Description extends object>(
  modelDirectory: string,
  cacheDir: string,
  options: object,
  compile: (directory: string) => Promise<Description>,
): Promise<Compiled<Description>> {
  const known = await findCompiled<Description>(modelDirectory, cacheDir, options);
  if (known) return known;
  const directory = await cacheDirectory(modelDirectory, cacheDir, options);
  await compileInto(directory, cacheDir, compile);
  await removeOutdated(cacheDir);
  const text = await readFile(join(directory, descriptionFile), 'utf8');
  return { directory, description: JSON.parse(text) as Description };
}

async function compileInto(
  directory: string,
  cacheDir: string,
  compile: (directory: string) => Promise<object>,
): Promise<void> {
  await mkdir(cacheDir, { recursive: true });
  const temporary = await mkdtemp(join(cacheDir, temporaryPrefix));
  try {
    await writeFile(join(temporary, descriptionFile), JSON.stringify(await compile(temporary), null, 2));
    await rename(temporary, directory);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    if (!existsSync(join(directory, descriptionFile))) throw error;
  }
}

/** Removes models of earlier compiler versions, and temporary directories older than a day. */
async function removeOutdated(cacheDir: string): Promise<void> {
  for (const name of await readdir(cacheDir)) {
    const version = /-v(\d+)-[0-9a-f]{16}$/.exec(name)?.[1];
    const path = join(cacheDir, name);
    const isAbandoned = name.startsWith(temporaryPrefix) && (await ageOf(path)) > oneDay;
    if (isAbandoned || Number(version ?? compilerVersion) < compilerVersion)
      await rm(path, { recursive: true, force: true });
  }
}

/** Milliseconds since the last change; 0 if another process has just removed the file. */
async function ageOf(path: string): Promise<number> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
  return Date.now() - mtimeMs;
}
