import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  baseEnvironmentSchema,
  databaseUrl,
  EnvironmentError,
  readEnvironment,
  databaseEnvironmentSchema,
  databaseOptions,
} from './environment.js';

describe('readEnvironment', () => {
  it('fills in the documented defaults', () => {
    expect(readEnvironment(baseEnvironmentSchema, {})).toMatchObject({
      HOST: '127.0.0.1',
      MEGANEST_PROFILE: 'bundled',
      DEVICE: 'auto',
      API_KEYS: [],
      LOG_LEVEL: 'info',
    });
  });

  it('takes an empty variable as unset', () => {
    expect(readEnvironment(baseEnvironmentSchema, { HOST: '', API_KEYS: '' })).toMatchObject({
      HOST: '127.0.0.1',
      API_KEYS: [],
    });
  });

  it('splits the keys at commas', () => {
    expect(readEnvironment(baseEnvironmentSchema, { API_KEYS: ' one, two ,' }).API_KEYS).toEqual([
      'one',
      'two',
    ]);
  });

  it.each([',', ' , ,'])('refuses a list of no keys: %j', (API_KEYS) => {
    expect(() => readEnvironment(baseEnvironmentSchema, { API_KEYS })).toThrow(
      /API_KEYS: Expected at least one key/,
    );
  });

  it('reads secrets from files; a variable that is set itself wins', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'secret-')), 'password');
    writeFileSync(file, 's3cret\n');
    const read = (variables: Record<string, string>) => readEnvironment(baseEnvironmentSchema, variables);
    expect(read({ NATS_PASSWORD_FILE: file }).NATS_PASSWORD).toBe('s3cret');
    expect(read({ NATS_PASSWORD_FILE: file, NATS_PASSWORD: 'own' }).NATS_PASSWORD).toBe('own');
    expect(() => read({ NATS_PASSWORD_FILE: '/nowhere/file' })).toThrow(
      /NATS_PASSWORD_FILE: \/nowhere\/file cannot be read/,
    );
    rmSync(dirname(file), { recursive: true });
  });

  it('names the variable that is wrong', () => {
    const read = () => readEnvironment(baseEnvironmentSchema, { DEVICE: 'tpu', REQUEST_TIMEOUT_MS: 'soon' });
    expect(read).toThrow(EnvironmentError);
    expect(read).toThrow(/DEVICE: [\s\S]*REQUEST_TIMEOUT_MS: /);
  });

  it('takes no time that a timer cannot wait', () => {
    const read = (value: string) => readEnvironment(baseEnvironmentSchema, { REQUEST_TIMEOUT_MS: value });
    expect(read('2147483647').REQUEST_TIMEOUT_MS).toBe(2_147_483_647);
    expect(() => read('2147483648')).toThrow(/REQUEST_TIMEOUT_MS: /);
  });

  it('gives a frozen result', () => {
    expect(Object.isFrozen(readEnvironment(baseEnvironmentSchema, {}))).toBe(true);
  });
});

describe('databaseUrl', () => {
  it("takes OPEA's name too, and prefers ours", () => {
    expect(databaseUrl({ PG_CONNECTION_STRING: 'postgres://a' })).toBe('postgres://a');
    expect(databaseUrl({ PG_CONNECTION_STRING: 'postgres://a', DATABASE_URL: 'postgres://b' })).toBe(
      'postgres://b',
    );
  });

  it('names the missing variable', () => {
    expect(() => databaseUrl({})).toThrow(/DATABASE_URL/);
  });
});

it('sizes the pool of a service by DATABASE_POOL_SIZE, and by a default without it', () => {
  const schema = baseEnvironmentSchema.extend(databaseEnvironmentSchema.shape);
  const optionsWith = (variables: object) =>
    databaseOptions('retrieval', schema.parse({ DATABASE_URL: 'postgres://db/meganest', ...variables }));
  expect(optionsWith({}).maxConnections).toBe(4);
  expect(optionsWith({ DATABASE_POOL_SIZE: '16' }).maxConnections).toBe(16);
  expect(() => optionsWith({ DATABASE_POOL_SIZE: '0' })).toThrow('DATABASE_POOL_SIZE');
});
