import { createHash } from 'node:crypto';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './run-command.js';

/** A package of Debian's pool, and its SHA-256 as Debian's signed lists had it on 2026-11-22. */
interface PinnedPackage {
  file: string;
  sha256: string;
}

const pool = 'http://deb.debian.org/debian/pool/main/n/nats-server';

/** Debian 13's nats-server. Its program needs glibc 2.34 or later, which Debian 12 and Ubuntu 22.04 have. */
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

/** Where the program lies in Debian's package, unpacked into `directory`. */
export async function unpackPackage(directory: string, archive: string): Promise<string> {
  await runCommand('dpkg-deb', ['-x', archive, 'root'], directory);
  return join(directory, 'root', 'usr', 'sbin', 'nats-server');
}

/**
 * Fetches the nats-server package whose hash is written here into the empty `directory`, and unpacks it. `baseUrl`: where the package lies.
 * Returns the path of the program. Errors: another platform, no dpkg, no network, another hash.
 */
export async function fetchPinnedPackage(directory: string, baseUrl = pool): Promise<string> {
  const wanted = process.platform === 'linux' ? pinned[process.arch] : undefined;
  if (wanted === undefined) throw new Error(`no package is known for ${process.platform} ${process.arch}`);
  await access('/usr/bin/dpkg-deb');
  const response = await fetch(`${baseUrl}/${wanted.file}`, { signal: AbortSignal.timeout(120_000) });
  if (!response.ok) throw new Error(`${baseUrl}/${wanted.file} answered ${response.status}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== wanted.sha256)
    throw new Error(`${wanted.file} has the SHA-256 ${sha256}, expected ${wanted.sha256}`);
  await writeFile(join(directory, wanted.file), bytes);
  return unpackPackage(directory, wanted.file);
}
