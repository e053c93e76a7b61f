import { describe, expect, it } from 'vitest';
import { natsAccess, type NatsEnvironment } from './nats-access.js';

const seed = `SU${'A'.repeat(56)}`;
const file = import.meta.filename;

describe('natsAccess', () => {
  it.each<[NatsEnvironment, object]>([
    [{}, { url: '127.0.0.1:4222' }],
    [{ NATS_URL: 'localhost' }, { url: 'localhost:4222' }],
    [
      { NATS_URL: 'nats://alice:s3%40cret@host:4222' },
      { url: 'host:4222', user: 'alice', password: 's3@cret' },
    ],
    [{ NATS_URL: 'nats://alice:4444@host' }, { url: 'host:4222', user: 'alice', password: '4444' }],
    [{ NATS_URL: 'nats://word@[fd00::1]:4333' }, { url: '[fd00::1]:4333', token: 'word' }],
    [
      { NATS_URL: 'nats://a:b@one:1, two:2', MEGANEST_ALLOW_OPEN: false },
      { url: 'one:1,two:2', user: 'a', password: 'b' },
    ],
    [{ NATS_URL: 'tls://word@host' }, { url: 'host:4222', token: 'word', tls: {} }],
    [
      { NATS_URL: 'host', NATS_USER: 'a', NATS_PASSWORD: 'b', NATS_CA_FILE: file },
      { url: 'host:4222', user: 'a', password: 'b', tls: { caFile: file } },
    ],
    [
      { NATS_URL: 'host', NATS_TOKEN: 'word' },
      { url: 'host:4222', token: 'word' },
    ],
    [
      { NATS_URL: 'host', NATS_NKEY: seed },
      { url: 'host:4222', nkey: seed },
    ],
    [
      { NATS_URL: 'host', NATS_CREDS_FILE: file },
      { url: 'host:4222', credentialsFile: file },
    ],
    [
      { NATS_URL: 'host', NATS_CERT_FILE: file, NATS_KEY_FILE: file },
      { url: 'host:4222', tls: { certFile: file, keyFile: file } },
    ],
    [{ NATS_URL: 'host', MEGANEST_ALLOW_OPEN: true }, { url: 'host:4222' }],
  ])('reads %o', (environment, access) => {
    expect(natsAccess(environment)).toEqual(access);
  });

  it.each<[NatsEnvironment, RegExp]>([
    [{ NATS_URL: 'nats://host:4222' }, /NATS_URL: refusing to use host:4222 without credentials/],
    [{ NATS_URL: '127.0.0.1, nats://other' }, /refusing to use other:4222/],
    [{ NATS_URL: 'tls://host' }, /refusing/],
    [{ NATS_URL: 'http://127.0.0.1' }, /NATS_URL: http:\/\/ is not nats:\/\/ or tls:\/\//],
    [{ NATS_URL: 'nats://a:b#c@host' }, /special characters of a password/],
    [{ NATS_URL: 'nats://a:b@one, nats://a:c@two' }, /the servers have different credentials/],
    [{ NATS_URL: 'nats://a:b@host', NATS_TOKEN: 'c' }, /one kind of credentials, not a user and a token/],
    [{ NATS_PASSWORD: 'b' }, /NATS_PASSWORD needs NATS_USER/],
    [{ NATS_CREDS_FILE: '/nowhere' }, /NATS_CREDS_FILE: \/nowhere cannot be read/],
    [{ NATS_CERT_FILE: file }, /belong together/],
  ])('refuses %o', (environment, message) => {
    expect(() => natsAccess(environment)).toThrow(message);
  });
});
