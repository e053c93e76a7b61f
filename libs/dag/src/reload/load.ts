import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceRegistry } from '../definition/service-kind.js';
import { buildCatalog, type MegaServiceCatalog, type MegaServiceFile } from './catalog.js';

/**
 * Reads every *.yaml (and *.yml) of a directory. A file that is not valid is an entry of `errors` and does not keep
 * the others from serving. Rejects where the directory cannot be read.
 */
export async function loadMegaServices(
  directory: string,
  registry: ServiceRegistry,
): Promise<MegaServiceCatalog> {
  return buildCatalog(await readMegaServiceFiles(directory), registry);
}

/** The files in the order of their names, so that of two with one name the same one always wins. */
export async function readMegaServiceFiles(directory: string): Promise<MegaServiceFile[]> {
  const names = (await readdir(directory)).filter((name) => /^[^.].*\.ya?ml$/.test(name)).sort();
  const files = await Promise.all(names.map((file) => readOne(directory, file)));
  return files.filter((file) => file !== undefined);
}

/** Undefined where the file went away after the directory was listed. */
async function readOne(directory: string, file: string): Promise<MegaServiceFile | undefined> {
  try {
    return { file, text: await readFile(join(directory, file), 'utf8') };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    return { file, text: new Error(`${file}: ${String(error)}`, { cause: error }) };
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
