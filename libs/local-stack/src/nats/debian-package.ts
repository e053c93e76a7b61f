import { access, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './run-command.js';

/** apt's own verification (signed lists, hashes) without its installation: nothing outside `directory` changes. */
function privateAptOptions(directory: string): string[] {
  const state = join(directory, 'apt');
  return ['-o', `Dir::State::lists=${join(state, 'lists')}`, '-o', `Dir::Cache=${join(state, 'cache')}`];
}

async function download(directory: string, options: string[]): Promise<void> {
  await runCommand('apt-get', ['-q', ...options, 'download', 'nats-server'], directory);
}

/** A fresh container has no package lists: they are fetched beside the package, so that this also works without root. */
async function downloadWithFreshLists(directory: string): Promise<void> {
  const options = privateAptOptions(directory);
  await mkdir(join(directory, 'apt', 'lists', 'partial'), { recursive: true });
  await mkdir(join(directory, 'apt', 'cache', 'archives', 'partial'), { recursive: true });
  await runCommand('apt-get', ['-q', ...options, 'update']);
  await download(directory, options);
}

/**
 * Fetches Debian's or Ubuntu's nats-server package into the empty `directory` and unpacks it there; no daemon is installed or
 * started. Returns the path of the program. Errors: no apt, no network, no such package.
 */
export async function fetchDebianPackage(directory: string): Promise<string> {
  await access('/usr/bin/apt-get');
  await download(directory, []).catch(() => downloadWithFreshLists(directory));
  const archive = (await readdir(directory)).find((name) => name.endsWith('.deb'));
  if (archive === undefined) throw new Error('apt-get downloaded no package');
  await runCommand('dpkg-deb', ['-x', archive, 'root'], directory);
  return join(directory, 'root', 'usr', 'sbin', 'nats-server');
}
