import { readdirSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '#platform/testing';
import { copyRuntimePackages } from '../../tools/runtime-packages.mjs';

/** The files that the Dockerfile's stages `sources` and `files` copy from the repository. */
export function copiedPaths(): string[] {
  const dockerfile = readFileSync(join(repositoryRoot, 'deploy/Dockerfile'), 'utf8');
  const stages = dockerfile.split(/^FROM /m);
  const wanted = stages.filter((stage) => /^\S+ AS (sources|files)\n/.test(stage));
  const copies = wanted.flatMap((stage) => [...stage.matchAll(/^COPY (?!--from)(.+) \S+$/gm)]);
  return copies.flatMap(([, paths = '']) => paths.split(' '));
}

/** Resolves `folder/*.md`. */
function filesOf(path: string): string[] {
  const [folder = '', extension] = path.split('/*');
  if (extension === undefined) return [path];
  const names = readdirSync(join(repositoryRoot, folder)).filter((name) => name.endsWith(extension));
  return names.map((name) => join(folder, name));
}

/** Fills `directory` with what the image holds below /app, so that a file that the Dockerfile forgets is missed. */
export async function fillImageDirectory(directory: string): Promise<void> {
  const paths = [...copiedPaths().flatMap(filesOf), 'dist'];
  await Promise.all(
    paths.map((path) => cp(join(repositoryRoot, path), join(directory, path), { recursive: true })),
  );
  copyRuntimePackages(join(repositoryRoot, 'node_modules'), join(directory, 'node_modules'));
}
