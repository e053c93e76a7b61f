import { builtFile } from '#paths';
import type { SupervisionOptions } from './supervise.js';

/**
 * Variables of every Node process that is started here, below what the user set. glibc asks for huge pages then, where the
 * kernel leaves that to programs: a model's weights are read whole for each token, and looking their pages up takes time.
 */
export const programVariables = { GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1' } as const;

/**
 * How to run a built program, given by its name, as a supervised Node process that ends with its parent,
 * whether or not the program knows of it. Errors: not built.
 */
export function nodeProgram(
  name: string,
  ...parameters: string[]
): Pick<SupervisionOptions, 'command' | 'args' | 'lifeline'> {
  const exitWithParent = builtFile('exit-with-parent');
  const path = builtFile(name);
  return {
    command: process.execPath,
    args: () => ['--enable-source-maps', '--import', exitWithParent, path, ...parameters],
    lifeline: 'stdin',
  };
}
