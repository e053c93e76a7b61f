import { expect, it } from 'vitest';
import { readLauncherEnvironment } from './environment.js';

it("takes OPEA's name of the database's address", () => {
  const { DATABASE_URL } = readLauncherEnvironment({ PG_CONNECTION_STRING: 'postgres://host/db' });
  expect(DATABASE_URL).toBe('postgres://host/db');
});

it.each([
  [{ GATEWAY_PORT: 'many' }, /GATEWAY_PORT/],
  [{ DATABASE_URL: 'mysql://host/db' }, /DATABASE_URL/],
  [{ NATS_TOKEN: 'secret' }, /NATS_TOKEN: set NATS_URL too/],
  [{ NATS_URL: 'a:4222' }, /NATS_URL: refusing to use a:4222 without credentials/],
  [{ NATS_URL: 'nats://a:4222,http://b' }, /NATS_URL/],
  [{ MEGANEST_PROFIL: 'hub' }, /MEGANEST_PROFIL: unknown variable. Did you mean MEGANEST_PROFILE/],
])('names the variable that is wrong: %o', (variables, message) => {
  expect(() => readLauncherEnvironment(variables)).toThrow(message);
});

it('ignores the many variables that are not its own', () => {
  expect(() => readLauncherEnvironment({ TERM: 'xterm', GATEWAY_PORT: '' })).not.toThrow();
});

it.each(['127.0.0.1:4222', 'nats://localhost', 'nats://user:word@a:4222, tls://b:4222'])(
  'takes NATS_URL=%s',
  (url) => {
    expect(readLauncherEnvironment({ NATS_URL: url }).NATS_URL).toBe(url);
  },
);
