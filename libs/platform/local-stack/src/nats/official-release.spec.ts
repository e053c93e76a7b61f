import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  fetchOfficialRelease,
  fetchPinnedPackage,
  isNewEnough,
  oldestVersion,
  selectChecksum,
} from './official-release.js';

describe('official release', () => {
  const checksums = 'aa11  nats-server-v2-linux-amd64.tar.gz\nbb22 *nats-server-v2-linux-arm64.tar.gz\n';

  it('finds the checksum of an archive, in text and in binary form', () => {
    expect(selectChecksum(checksums, 'nats-server-v2-linux-amd64.tar.gz')).toBe('aa11');
    expect(selectChecksum(checksums, 'nats-server-v2-linux-arm64.tar.gz')).toBe('bb22');
  });

  it('refuses an archive that is not listed', () => {
    expect(() => selectChecksum(checksums, 'other.tar.gz')).toThrow(/no checksum for other/);
  });

  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'release-'));
  });

  afterEach(() => rm(directory, { recursive: true }));

  /** Serves a release for every platform, whose SHA256SUMS hold `checksum`, or the right ones. */
  async function serveRelease(checksum?: string) {
    const archives = ['linux-amd64', 'linux-arm64', 'linux-arm7', 'darwin-amd64', 'darwin-arm64'].map(
      (platform) => `nats-server-v2.11.17-${platform}.tar.gz`,
    );
    const sum = (archive: string) => checksum ?? createHash('sha256').update(pack(archive)).digest('hex');
    const server = createServer((request, response) => {
      const name = request.url?.slice(1) ?? '';
      const sums = () => archives.map((archive) => `${sum(archive)}  ${archive}\n`).join('');
      response.end(name === 'SHA256SUMS' ? sums() : pack(name));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() };
  }

  /** The archive of a program that is only a text. */
  function pack(archive: string): Buffer {
    const stem = archive.replace('.tar.gz', '');
    const source = join(directory, 'source');
    mkdirSync(join(source, stem), { recursive: true });
    writeFileSync(join(source, stem, 'nats-server'), 'the program');
    return execFileSync('tar', ['-cz', '--mtime=@0', '-C', source, stem]);
  }

  it('unpacks the program of a release whose checksum is right', async () => {
    const release = await serveRelease();
    const target = mkdtempSync(join(directory, 'target-'));
    const program = await fetchOfficialRelease(target, release.url);
    expect(readFileSync(program, 'utf8')).toBe('the program');
    release.close();
  });

  it('refuses a release whose checksum is wrong', async () => {
    const release = await serveRelease('00');
    await expect(fetchOfficialRelease(directory, release.url)).rejects.toThrow(
      /has checksum \w{64}, the release says 00/,
    );
    release.close();
  });
});

it.runIf(process.platform === 'linux')('refuses a package with another hash', async () => {
  const server = createServer((_request, response) => response.end('another program')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const directory = mkdtempSync(join(tmpdir(), 'pinned-'));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(fetchPinnedPackage(directory, url)).rejects.toThrow(
    /nats-server_\S+\.deb has the SHA-256 \w{64}, expected \w{64}/,
  );
  server.close();
  await rm(directory, { recursive: true });
});

it.each(['2.10.27', '2.10.30-RC.1', '2.11.1', '2.12.0', '2.15.1', '3.0.0'])('takes %s', (version) => {
  expect(isNewEnough(version)).toBe(true);
});

it.each(['2.9.10', '2.10.26', '2.11.0', '1.4.1', '0.0.0', 'unknown'])('refuses %s', (version) => {
  expect(isNewEnough(version)).toBe(false);
});

it('says which are new enough', () => {
  expect(oldestVersion).toBe('2.10.27 or 2.11.1');
});
