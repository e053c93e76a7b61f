import { expect, it } from 'vitest';
import { aliasedPath } from './path-aliases.js';

it.each([
  ['/v3/chat/completions', '/v1/chat/completions'],
  ['/v3/models?limit=2', '/v1/models?limit=2'],
  ['/v3', '/v3'],
  ['/v30/models', '/v30/models'],
  ['/v1/files/v3/content', '/v1/files/v3/content'],
])('reads %s as %s', (given, path) => {
  expect(aliasedPath(given)).toBe(path);
});
