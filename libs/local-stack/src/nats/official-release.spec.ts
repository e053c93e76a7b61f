import { expect, it } from 'vitest';
import { selectChecksum } from './official-release.js';

const checksums = 'aa11  nats-server-v2-linux-amd64.tar.gz\nbb22 *nats-server-v2-linux-arm64.tar.gz\n';

it('finds the checksum of an archive, in text and in binary form', () => {
  expect(selectChecksum(checksums, 'nats-server-v2-linux-amd64.tar.gz')).toBe('aa11');
  expect(selectChecksum(checksums, 'nats-server-v2-linux-arm64.tar.gz')).toBe('bb22');
});

it('refuses an archive that is not listed', () => {
  expect(() => selectChecksum(checksums, 'other.tar.gz')).toThrow(/no checksum for other/);
});
