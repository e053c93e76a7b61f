import { existsSync } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { canCompileDecoder, canCompileEncoder, canCompileSpeech } from '../model/model-config.js';
import type { ModelLoadOptions } from '../model/load-options.js';
import { hubCaches, type CompileCheck } from './download-model.js';
import { DownloadLock } from './download-lock.js';
import { hashOf } from './fetch-blob.js';
import { HubFolder, type HubModel, isComplete } from './hub-cache.js';

/** A commit of a model in a cache. */
export interface CachedModel {
  readonly id: string;
  readonly commit: string;
  /** Branches and tags that refer to this commit. */
  readonly names: readonly string[];
  readonly bytes: number;
  /** True if all files that the loaders read are present. */
  readonly complete: boolean;
  readonly directory: string;
  readonly cache: string;
}

/** Returns true if a folder has a model of any kind that can be compiled; for callers that do not know its task. */
export const canCompileAny: CompileCheck = async (directory) => {
  for (const canCompile of [canCompileDecoder, canCompileEncoder, canCompileSpeech])
    if (await canCompile(directory).catch(() => false)) return true;
  return false;
};

/** Lists the models in the caches, sorted by id. */
export async function listModels(options: ModelLoadOptions): Promise<CachedModel[]> {
  const { own, others } = hubCaches(options);
  const lists = await Promise.all([own, ...others].map((cache) => listCache(cache)));
  return lists.flat().toSorted((one, other) => one.id.localeCompare(other.id));
}

async function listCache(cache: string): Promise<CachedModel[]> {
  const folders = (await readdir(cache).catch(() => [])).filter((name) => name.startsWith('models--'));
  const lists = folders.map(async (name) => {
    const id = name.slice('models--'.length).replace('--', '/');
    const folder = new HubFolder(cache, { id, revision: 'main' });
    const commits = await readdir(path.join(folder.path, 'snapshots')).catch(() => []);
    return Promise.all(commits.map((commit) => describe(folder, commit)));
  });
  return (await Promise.all(lists)).flat();
}

async function describe(folder: HubFolder, commit: string): Promise<CachedModel> {
  const directory = folder.snapshot(commit);
  const { id } = folder.model;
  const canCompile = () => canCompileAny(directory);
  const sizes = await Promise.all((await filesOf(directory)).map(async (file) => (await stat(file)).size));
  return {
    id,
    commit,
    names: await namesOf(folder, commit),
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    complete: await isComplete(id, directory, { canCompile }),
    directory,
    cache: folder.cache,
  };
}

async function namesOf(folder: HubFolder, commit: string): Promise<string[]> {
  const root = path.join(folder.path, 'refs');
  const refs = await readdir(root, { recursive: true }).catch(() => []);
  const meant = refs.map(async (revision) => {
    const found = await new HubFolder(folder.cache, { id: folder.model.id, revision }).commit();
    return found === commit ? [revision] : [];
  });
  return (await Promise.all(meant)).flat();
}

/** Returns the files of a snapshot whose content is present. */
async function filesOf(directory: string): Promise<string[]> {
  const names = await readdir(directory, { recursive: true });
  const files = names.map((name) => path.join(directory, name)).filter((file) => existsSync(file));
  const isFile = await Promise.all(files.map(async (file) => (await stat(file)).isFile()));
  return files.filter((_file, index) => isFile[index]);
}

/** Removes a model with all its commits from the cache for downloads; false if the cache does not have it. */
export async function removeModel(model: HubModel, options: ModelLoadOptions): Promise<boolean> {
  const { own } = hubCaches(options);
  const folder = new HubFolder(own, model);
  if (!existsSync(folder.path)) return false;
  const lock = await DownloadLock.acquire(own, model.id, () =>
    options.onNotice?.(`${model.id}: waiting for the process that downloads it`),
  );
  try {
    await folder.remove();
  } finally {
    await lock.release();
  }
  return true;
}

/** Returns the files whose content does not match the hash in their blob's name, as paths relative to the snapshot. */
export async function findDamage({ directory }: CachedModel): Promise<string[]> {
  const damaged: string[] = [];
  for (const file of await filesOf(directory)) {
    // The name of a copy does not contain a hash.
    if (!(await lstat(file)).isSymbolicLink()) continue;
    const blob = await realpath(file);
    const tag = path.basename(blob);
    if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(tag)) continue;
    const { size } = await stat(blob);
    if ((await hashOf(blob, { tag, bytes: size })) !== tag) damaged.push(path.relative(directory, file));
  }
  return damaged;
}
