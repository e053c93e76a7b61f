import { existsSync } from 'node:fs';
import path from 'node:path';

/** Folder of this package's package.json, from sources and from dist alike. */
export function packageRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(path.join(folder, 'package.json'))) folder = path.dirname(folder);
  return folder;
}
