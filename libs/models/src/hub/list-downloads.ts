import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { lockFolder, parse, type DownloadState } from './download-lock.js';

/** A lock that was not written for so long is not a download any more. */
const forgottenMs = 60_000;

/** The downloads under way in a cache, by this process or any other that shares it. */
export async function listDownloads(cache: string): Promise<DownloadState[]> {
  const folder = lockFolder(cache);
  const names = await readdir(folder).catch(() => []);
  const states = names
    .filter((name) => name.endsWith('.json'))
    .map((name) => readState(path.join(folder, name)));
  return (await Promise.all(states)).filter((state) => state !== undefined);
}

async function readState(file: string): Promise<DownloadState | undefined> {
  try {
    const { mtimeMs } = await stat(file);
    const content = parse(await readFile(file, 'utf8'));
    if (content === undefined || Date.now() - mtimeMs > forgottenMs) return undefined;
    const { model, loadedBytes, totalBytes } = content;
    return { model, loadedBytes, ...(totalBytes !== undefined && { totalBytes }) };
  } catch {
    return undefined;
  }
}
