import { readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** A file of a folder. */
export interface FoundFile {
  /** On this machine. */
  path: string;
  /** Within the folder, with forward slashes: the name of its document. */
  name: string;
  bytes: number;
  /** Changes when the file does. */
  version: string;
}

/** Folders that hold no documents. Hidden ones are left out too. */
const skipped = new Set(['node_modules', '__pycache__']);

/** Every file below a folder, or the one file that is named, in the order of their names. Links are not followed. */
export async function findFiles(root: string): Promise<FoundFile[]> {
  const facts = await stat(root);
  if (facts.isFile()) return [describe(root, root.split(/[\\/]/).at(-1)!, facts)];
  const found: FoundFile[] = [];
  for await (const path of walk(root)) {
    found.push(describe(path, relative(root, path).split(sep).join('/'), await stat(path)));
  }
  return found.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

async function* walk(folder: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.name.startsWith('.') || skipped.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path);
    else if (entry.isFile()) yield path;
  }
}

function describe(
  path: string,
  name: string,
  { size, mtimeMs }: { size: number; mtimeMs: number },
): FoundFile {
  return { path, name, bytes: size, version: `${size}-${Math.round(mtimeMs)}` };
}
