import { expect, it } from 'vitest';
import { withOwnKey } from './own-key.js';

it('adds a key of its own to a file of keys, a new one at each start', () => {
  const given = { API_KEYS: [], API_KEYS_FILE: '/keys.yaml' };
  const [one, other] = [withOwnKey({ A: 'b' }, given), withOwnKey({}, given)];
  expect(one).toEqual({ A: 'b', API_KEYS: expect.stringMatching(/^[\w-]{43}$/) as string });
  expect(other['API_KEYS']).not.toBe(one['API_KEYS']);
});

it.each([
  ['no keys', { API_KEYS: [], API_KEYS_FILE: undefined }],
  ['keys of the user', { API_KEYS: ['a key of the user'], API_KEYS_FILE: '/keys.yaml' }],
])('leaves %s as they are', (_name, given) => {
  const variables = { A: 'b' };
  expect(withOwnKey(variables, given)).toBe(variables);
});
