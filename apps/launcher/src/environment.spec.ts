import { expect, it } from 'vitest';
import {
  describeMisspelled,
  launcherEnvironmentSchema,
  readLauncherEnvironment,
  refuseUnknown,
} from './environment.js';

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

const known = Object.keys(launcherEnvironmentSchema.shape);

it.each([
  ['GATEWAY_PROT', 'GATEWAY_PORT'],
  ['LLM_MODELID', 'LLM_MODEL_ID'],
  ['LLM_ENDPONT', 'LLM_ENDPOINT'],
  ['API_KEY', 'API_KEYS'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['llm_endpoint', 'LLM_ENDPOINT'],
])('names the variable that %s is meant for', (name, meant) => {
  expect(describeMisspelled({ [name]: 'x' }, known)).toEqual([
    `${name} is not a variable of MegaNest and has no effect. Did you mean ${meant}?`,
  ]);
});

it('is silent about other variables, and where the right one is set too', () => {
  const others = {
    HOME: '/root',
    HOSTNAME: 'box',
    PATH: '/bin',
    TERM: 'xterm',
    NATS_SERVER: 'x',
    OPENAI_API_KEY: 'k',
  };
  expect(describeMisspelled({ ...others, API_KEYS: 'a', API_KEY: 'b', GATEWAY_PROT: '' }, known)).toEqual([]);
});

it('refuses unknown variables of its own prefix, with the nearest one', () => {
  expect(() => refuseUnknown({ MEGANEST_PROFIL: 'hub' }, known)).toThrow(
    'MEGANEST_PROFIL: unknown variable. Did you mean MEGANEST_PROFILE?',
  );
  expect(() => refuseUnknown({ MEGANEST_XYZ_ABC: '1' }, known)).toThrow(/Known are MEGANEST_/);
});
