import { expect, it } from 'vitest';
import { estimateTokens } from './estimate-tokens.js';

it.each([
  ['English', 'The office opens at eight', 6, 8],
  ['JSON', '{"id": 4711, "size": [1, 2]}', 10, 20],
  ['Chinese', '办公室八点开门', 7, 7],
  ['Russian', 'Открыто', 3, 5],
  ['nothing', '', 0, 0],
])('estimates the tokens of %s', (_name, text, min, max) => {
  const tokens = estimateTokens(text);
  expect(tokens).toBeGreaterThanOrEqual(min);
  expect(tokens).toBeLessThanOrEqual(max);
});
