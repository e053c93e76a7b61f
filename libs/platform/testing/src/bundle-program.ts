import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { cacheDirectory, repositoryRoot } from './directories.js';

/**
 * Builds a program that only a test needs from TypeScript that may import `#libs` and absolute paths of sources.
 * Returns the path of the JavaScript file; packages are imported from node_modules.
 */
export async function bundleProgram(code: string): Promise<string> {
  await mkdir(cacheDirectory, { recursive: true });
  const directory = await mkdtemp(join(cacheDirectory, 'program-'));
  const source = join(repositoryRoot, 'program.ts');
  const build = await rolldown({
    input: source,
    platform: 'node',
    external: (id) => /^[\w@]/.test(id),
    tsconfig: join(repositoryRoot, 'tsconfig.json'),
    plugins: [
      {
        name: 'program',
        resolveId: (id) => (id === source ? id : null),
        load: (id) => (id === source ? code : null),
      },
    ],
  });
  await build.write({ dir: directory, format: 'esm' });
  await build.close();
  return join(directory, 'program.js');
}
