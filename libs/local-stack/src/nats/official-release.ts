import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './run-command.js';

const version = 'v2.11.17';
const releaseUrl = `https://github.com/nats-io/nats-server/releases/download/${version}`;
const architectures: Partial<Record<NodeJS.Architecture, string>> = {
  x64: 'amd64',
  arm64: 'arm64',
  arm: 'arm7',
};

async function fetchBytes(url: string): Promise<Buffer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(300_000) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

/** The checksum of `archive` in a file of `<sha256>  <name>` lines. */
export function selectChecksum(checksums: string, archive: string): string {
  const line = checksums.split('\n').find((entry) => entry.trim().split(/\s+\*?/)[1] === archive);
  const checksum = line?.trim().split(/\s+/)[0];
  if (checksum === undefined) throw new Error(`the release lists no checksum for ${archive}`);
  return checksum;
}

/**
 * Fetches the pinned official release into the empty `directory`, checks it against the release's SHA256SUMS and
 * unpacks it. Returns the path of the program. `baseUrl`: where the release's files lie. Errors: no build for this platform, no network, wrong checksum.
 */
export async function fetchOfficialRelease(directory: string, baseUrl = releaseUrl): Promise<string> {
  const architecture = architectures[process.arch];
  if (architecture === undefined || !['linux', 'darwin'].includes(process.platform))
    throw new Error(`there is no nats-server release for ${process.platform} ${process.arch}`);
  const stem = `nats-server-${version}-${process.platform}-${architecture}`;
  const archive = `${stem}.tar.gz`;
  const expected = selectChecksum((await fetchBytes(`${baseUrl}/SHA256SUMS`)).toString('utf8'), archive);
  const bytes = await fetchBytes(`${baseUrl}/${archive}`);
  const actual = createHash('sha256').update(bytes).digest('hex');
  if (actual !== expected) throw new Error(`${archive} has checksum ${actual}, the release says ${expected}`);
  await writeFile(join(directory, archive), bytes);
  await runCommand('tar', ['-xzf', archive], directory);
  return join(directory, stem, 'nats-server');
}
