import { expect, it } from 'vitest';
import { readLauncherEnvironment } from './environment.js';
import { describeConfiguration, showValue } from './summary.js';

it('shows every variable, also those that are unset', () => {
  const lines = describeConfiguration(readLauncherEnvironment({})).split('\n');
  expect(lines).toContain('GATEWAY_PORT=8888');
  expect(lines).toContain('NATS_URL=(unset)');
  expect(lines).toEqual(lines.toSorted());
});

it.each([
  ['API_KEYS', ['first', 'second'], '***,***'],
  ['DATABASE_URL', 'postgres://user:hidden@host/db', 'postgres://user:***@host/db'],
  ['DATABASE_URL', 'postgres://user@host/db', 'postgres://user@host/db'],
  ['NATS_URL', 'nats://hidden@host:4222', 'nats://***@host:4222'],
  ['NATS_URL', 'nats://user:hid,den@a:4222, b:4222', 'nats://***@a:4222, b:4222'],
  ['NATS_URL', 'hidden@a:4222', '***@a:4222'],
  [
    'DATABASE_URL',
    'postgresql://user:a@b:c@host/db?sslmode=require',
    'postgresql://user:***@host/db?sslmode=require',
  ],
  ['LLM_ENDPOINT', 'https://host/v1?api_key=hidden', 'https://host/v1?api_key=***'],
  ['LLM_MODEL_ID', undefined, '(unset)'],
])('masks the secrets of %s', (name, value, shown) => {
  expect(showValue(name, value)).toBe(shown);
});
