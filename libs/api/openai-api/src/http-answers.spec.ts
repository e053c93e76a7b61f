import { expect, it } from 'vitest';
import { pollAfter } from './http-answers.js';

it.each([
  ['queued', { 'openai-poll-after-ms': '500' }],
  ['in_progress', { 'openai-poll-after-ms': '500' }],
  ['completed', {}],
  ['failed', {}],
  [undefined, {}],
])('says when to ask again for what is %s', (status, headers) => {
  expect(pollAfter({ status })).toEqual(headers);
});
