import { expect, it } from 'vitest';
import { aliasedPath } from './path-aliases.js';

it.each([
  ['/v3/chat/completions', '/v1/chat/completions'],
  ['/v3/models?x=1', '/v1/models?x=1'],
  ['/v30/models', '/v30/models'],
  ['/v3', '/v3'],
  ['/v1/files/v3/content', '/v1/files/v3/content'],
  ['/v1/responses/', '/v1/responses'],
  ['//v1//responses', '/v1/responses'],
  ['/v1/models/?a=//b/', '/v1/models?a=//b/'],
  ['/', '/'],
  ['//', '/'],
  ['/?q=/', '/?q=/'],
  ['http://127.0.0.1:8888/v1/models', '/v1/models'],
  ['http://127.0.0.1:8888', '/'],
  ['*', '/*'],
])('serves %s as %s', (path, expected) => {
  expect(aliasedPath(path)).toBe(expected);
});
