import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
  realpath,
} from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { listWeightFiles } from './checkpoint/safetensors.js';

/** A part of every cache key; raise it when the written graphs change. */
const compilerVersion = 12;

const descriptionFile = 'compiled.json';
const temporaryPrefix = '.compiling-';
const oneDay = 86_400_000;
/** A compiled model that nobody opens for so long is removed when another one is opened. */
const unusedDays = 7;
const hashedAtOnce = 1 << 20;

/** A compiled model, and the description that its compilation returned. */
export interface Compiled<Description extends object> {
  readonly directory: string;
  readonly description: Description;
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

/** Finds a model that {@link compileOnce} has compiled before. */
export async function findCompiled<Description extends object>(
  modelDirectory: string,
  cacheDir: string,
  options: object,
): Promise<Compiled<Description> | undefined> {
  const directory = await cacheDirectory(modelDirectory, cacheDir, options);
  const file = join(directory, descriptionFile);
  if (!existsSync(file)) return undefined;
  const now = new Date();
  // The cache may be read-only.
  await utimes(file, now, now).catch(() => undefined);
  await removeOutdated(cacheDir).catch(() => undefined);
  return { directory, description: JSON.parse(await readFile(file, 'utf8')) as Description };
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

async function cacheDirectory(modelDirectory: string, cacheDir: string, options: object): Promise<string> {
  const hash = await contentHash(modelDirectory, cacheDir, options);
  return join(cacheDir, `${basename(modelDirectory)}-v${compilerVersion}-${hash.slice(0, 16)}`);
}

/** SHA-256 of the compiler's version, its options, and the hashes of config.json and of all weight files. */
async function contentHash(modelDirectory: string, cacheDir: string, options: object): Promise<string> {
  const config = await readFile(join(modelDirectory, 'config.json'), 'utf8');
  const weights: string[] = [];
  for (const file of await listWeightFiles(modelDirectory)) weights.push(await fileDigest(file, cacheDir));
  return createHash('sha256')
    .update(JSON.stringify([compilerVersion, options, config, weights]))
    .digest('hex');
}

/**
 * Removes models of earlier compiler versions, models that nobody has opened for a week, for example of an earlier precision,
 * and temporary directories older than a day.
 */
async function removeOutdated(cacheDir: string): Promise<void> {
  for (const name of await readdir(cacheDir)) {
    const path = join(cacheDir, name);
    if (await isOutdated(name, path)) await rm(path, { recursive: true, force: true });
  }
}

async function isOutdated(name: string, path: string): Promise<boolean> {
  if (name.startsWith(temporaryPrefix)) return (await ageOf(path)) > oneDay;
  const version = /-v(\d+)-[0-9a-f]{16}$/.exec(name)?.[1];
  if (version === undefined) return false;
  return (
    Number(version) < compilerVersion || (await ageOf(join(path, descriptionFile))) > unusedDays * oneDay
  );
}

/** Milliseconds since the last change; 0 if another process has just removed the file. */
async function ageOf(path: string): Promise<number> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
  return Date.now() - mtimeMs;
}

const recordSchema = z.object({ identity: z.string(), sha256: z.string().regex(/^[0-9a-f]{64}$/) });

/** A file that changed so recently could change again within the same tick of the file system's clock. */
const settledMilliseconds = 2000;

/**
 * SHA-256 of a file in hexadecimal. Reading gigabytes takes long, so the result is kept in the folder `hashes` of
 * `cacheDir`, and counts while path, size, inode and time of change of the file are the same. Writers of `cacheDir`
 * are trusted: they could replace the compiled graphs too.
 */
export async function fileDigest(file: string, cacheDir: string): Promise<string> {
  const path = await realpath(file);
  const name = createHash('sha256').update(path).digest('hex').slice(0, 32);
  const record = join(cacheDir, 'hashes', `${name}.json`);
  const identity = await identityOf(path);
  const known = await readRecord(record);
  if (known?.identity === identity) return known.sha256;
  const sha256 = await hashFile(path);
  const { mtimeMs } = await stat(path);
  const isSettled = (await identityOf(path)) === identity && Date.now() - mtimeMs > settledMilliseconds;
  if (isSettled) await writeRecord(join(cacheDir, 'hashes'), record, { identity, sha256 });
  return sha256;
}

/** Reads a whole file, the next bytes while those before them are hashed. Two buffers are used in turns. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  const file = await open(path);
  try {
    let [current, other] = [new Uint8Array(hashedAtOnce), new Uint8Array(hashedAtOnce)];
    let { bytesRead } = await file.read(current);
    while (bytesRead > 0) {
      const reading = file.read(other);
      hash.update(current.subarray(0, bytesRead));
      ({ bytesRead } = await reading);
      [current, other] = [other, current];
    }
  } finally {
    await file.close();
  }
  return hash.digest('hex');
}

async function identityOf(path: string): Promise<string> {
  const { size, ino, mtimeNs } = await stat(path, { bigint: true });
  return [path, size, ino, mtimeNs].join(' ');
}

/** Reads a record; undefined if it is missing or damaged, so that it is written again. */
async function readRecord(record: string): Promise<z.infer<typeof recordSchema> | undefined> {
  try {
    return recordSchema.parse(JSON.parse(await readFile(record, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Writes a record. If the folder is not writable, the next start hashes the file again. */
async function writeRecord(
  folder: string,
  record: string,
  content: z.infer<typeof recordSchema>,
): Promise<void> {
  const temporary = `${record}.${process.pid}`;
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(temporary, JSON.stringify(content));
    await rename(temporary, record);
  } catch (error) {
    if (!['EACCES', 'EROFS', 'ENOSPC'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
