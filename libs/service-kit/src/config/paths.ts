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
