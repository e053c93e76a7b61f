import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const version = 'v2.11.17';
const releaseUrl = `https://github.com/nats-io/nats-server/releases/download/${version}`;
const architectures: Partial<Record<NodeJS.Architecture, string>> = {
  x64: 'amd64',
  arm64: 'arm64',
  arm: 'arm7',
};

async function fetchBytes(url: string, timeoutMs = 300_000): Promise<Buffer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The checksum of `archive` in a file of `<sha256>  <name>` lines. */
export function selectChecksum(checksums: string, archive: string): string {
  const line = checksums.split('\n').find((entry) => entry.trim().split(/\s+\*?/)[1] === archive);
  const checksum = line?.trim().split(/\s+/)[0];
  if (checksum === undefined) throw new Error(`the release lists no checksum for ${archive}`);
  return checksum;
}

/**
 * Downloads the pinned official release into the empty `directory`, checks it against the SHA256SUMS of the release,
 * and unpacks it. Returns the path of the program. `baseUrl`: URL of the folder with the files of the release. Errors:
 * no build for this platform, no network, wrong checksum.
 */
export async function fetchOfficialRelease(directory: string, baseUrl = releaseUrl): Promise<string> {
  const architecture = architectures[process.arch];
  if (architecture === undefined || !['linux', 'darwin'].includes(process.platform))
    throw new Error(`there is no nats-server release for ${process.platform} ${process.arch}`);
  const stem = `nats-server-${version}-${process.platform}-${architecture}`;
  const archive = `${stem}.tar.gz`;
  const expected = selectChecksum((await fetchBytes(`${baseUrl}/SHA256SUMS`)).toString('utf8'), archive);
  const bytes = await fetchBytes(`${baseUrl}/${archive}`);
  const actual = sha256Of(bytes);
  if (actual !== expected) throw new Error(`${archive} has checksum ${actual}, the release says ${expected}`);
  await writeFile(join(directory, archive), bytes);
  await runCommand('tar', ['-xzf', archive], directory);
  return join(directory, stem, 'nats-server');
}

/** A package in Debian's pool, and its SHA-256 from the signed lists of Debian on 2026-11-22. */
interface PinnedPackage {
  file: string;
  sha256: string;
}

const pool = 'http://deb.debian.org/debian/pool/main/n/nats-server';

/** The nats-server of Debian 13. It needs glibc 2.34 or later, as in Debian 12 and Ubuntu 22.04. */
const pinned: Partial<Record<NodeJS.Architecture, PinnedPackage>> = {
  x64: {
    file: 'nats-server_2.10.27-1+b2_amd64.deb',
    sha256: '6d913ac987b78734c08537c2adeb1526cf735f216173a9170d94b185fcfe6f8a',
  },
  arm64: {
    file: 'nats-server_2.10.27-1+b2_arm64.deb',
    sha256: '0c9a617510b28c1b4fb4a38aabea6ab8cd7f026247f2abdff8b955b2278ce049',
  },
};

/** Unpacks a Debian package into `directory`. Returns the path of the program. */
async function unpackPackage(directory: string, archive: string): Promise<string> {
  await runCommand('dpkg-deb', ['-x', archive, 'root'], directory);
  return join(directory, 'root', 'usr', 'sbin', 'nats-server');
}

/**
 * Downloads the nats-server package with the pinned hash into the empty `directory`, and unpacks it. `baseUrl`: URL of
 * the folder with the package. Returns the path of the program. Errors: unsupported platform, no dpkg, no network,
 * wrong hash.
 */
export async function fetchPinnedPackage(directory: string, baseUrl = pool): Promise<string> {
  const wanted = process.platform === 'linux' ? pinned[process.arch] : undefined;
  if (wanted === undefined) throw new Error(`no package is known for ${process.platform} ${process.arch}`);
  await access('/usr/bin/dpkg-deb');
  const bytes = await fetchBytes(`${baseUrl}/${wanted.file}`, 120_000);
  const sha256 = sha256Of(bytes);
  if (sha256 !== wanted.sha256)
    throw new Error(`${wanted.file} has the SHA-256 ${sha256}, expected ${wanted.sha256}`);
  await writeFile(join(directory, wanted.file), bytes);
  return unpackPackage(directory, wanted.file);
}

/** Options for apt: it verifies packages (signed lists, hashes) but does not change files outside `directory`. */
function privateAptOptions(directory: string): string[] {
  const state = join(directory, 'apt');
  return ['-o', `Dir::State::lists=${join(state, 'lists')}`, '-o', `Dir::Cache=${join(state, 'cache')}`];
}

async function download(directory: string, options: string[]): Promise<void> {
  await runCommand('apt-get', ['-q', ...options, 'download', 'nats-server'], directory);
}

/** Downloads the package lists and then the package. A new container has no lists; `directory` needs no root access. */
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
 * Downloads the nats-server package of this machine's Debian or Ubuntu into the empty `directory` and unpacks it there.
 * It does not install or start a daemon. Returns the path of the program. Errors: no apt, no network, no such package.
 */
export async function fetchDistributionPackage(directory: string): Promise<string> {
  await access('/usr/bin/apt-get');
  await download(directory, []).catch(() => downloadWithFreshLists(directory, privateAptOptions(directory)));
  return unpackDownload(directory);
}

const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * Downloads the package of Debian 13, for machines whose own package is too old. apt checks its lists with the Debian
 * keys of this machine. Errors: no apt, no Debian keys, no network.
 */
export async function fetchStablePackage(directory: string): Promise<string> {
  await Promise.all([access('/usr/bin/apt-get'), access(keyring)]);
  const sources = join(directory, 'sources.list');
  await writeFile(sources, `deb [signed-by=${keyring}] http://deb.debian.org/debian trixie main\n`);
  const onlyThis = ['-o', `Dir::Etc::sourcelist=${sources}`, '-o', 'Dir::Etc::sourceparts=/dev/null'];
  await downloadWithFreshLists(directory, privateAptOptions(directory).concat(onlyThis));
  return unpackDownload(directory);
}

const run = promisify(execFile);

/**
 * Runs a program to its end and returns its standard output. Errors: the message is the standard error of the program.
 */
export async function runCommand(command: string, args: readonly string[], cwd?: string): Promise<string> {
  try {
    const { stdout } = await run(command, [...args], { cwd, maxBuffer: 64 * 1024 * 1024, timeout: 300_000 });
    return stdout;
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    throw new Error(`${command}: ${(stderr?.trim() || message).split('\n').slice(-3).join(' ')}`, {
      cause: error,
    });
  }
}

/**
 * The first accepted version of each release line. Earlier versions have vulnerabilities in JetStream access control.
 */
const oldest: readonly (readonly [minor: number, patch: number])[] = [
  [10, 27],
  [11, 1],
];

/** The oldest accepted versions of nats-server, for messages. */
export const oldestVersion = `2.${oldest.map(([minor, patch]) => `${minor}.${patch}`).join(' or 2.')}`;

/** Whether `version`, in the form of `nats-server --version`, is new enough. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  if (major !== 2) return major > 2;
  const line = oldest.find(([listed]) => listed === minor);
  return line === undefined ? minor > (oldest.at(-1)?.[0] ?? 0) : patch >= line[1];
}
