import { access, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unpackPackage } from './pinned-package.js';
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
async function downloadWithFreshLists(directory: string, options: string[]): Promise<void> {
  await mkdir(join(directory, 'apt', 'lists', 'partial'), { recursive: true });
  await mkdir(join(directory, 'apt', 'cache', 'archives', 'partial'), { recursive: true });
  await runCommand('apt-get', ['-q', ...options, 'update']);
  await download(directory, options);
}

async function unpackDownload(directory: string): Promise<string> {
  const archive = (await readdir(directory)).find((name) => name.endsWith('.deb'));
  if (archive === undefined) throw new Error('apt-get downloaded no package');
  return unpackPackage(directory, archive);
}

/**
 * Fetches the nats-server package of this machine's Debian or Ubuntu into the empty `directory` and unpacks it there; no daemon
 * is installed or started. Returns the path of the program. Errors: no apt, no network, no such package.
 */
export async function fetchDistributionPackage(directory: string): Promise<string> {
  await access('/usr/bin/apt-get');
  await download(directory, []).catch(() => downloadWithFreshLists(directory, privateAptOptions(directory)));
  return unpackDownload(directory);
}

const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * The same with the package of Debian 13, for machines whose own is too old: its lists are checked against the keys of
 * Debian that this machine has. Errors: no apt, no such keys, no network.
 */
export async function fetchStablePackage(directory: string): Promise<string> {
  await Promise.all([access('/usr/bin/apt-get'), access(keyring)]);
  const sources = join(directory, 'sources.list');
  await writeFile(sources, `deb [signed-by=${keyring}] http://deb.debian.org/debian trixie main\n`);
  const onlyThis = ['-o', `Dir::Etc::sourcelist=${sources}`, '-o', 'Dir::Etc::sourceparts=/dev/null'];
  await downloadWithFreshLists(directory, privateAptOptions(directory).concat(onlyThis));
  return unpackDownload(directory);
}
