import { expect, it } from 'vitest';
import { selectForConsole } from './console-line.js';

it.each([
  ['stdout', '{"level":30,"msg":"listening"}', undefined],
  ['stdout', '{"level":40,"msg":"slow"}', 'slow'],
  ['stdout', '{"level":50,"msg":"failed","err":{"message":"no model"}}', 'failed: no model'],
  [
    'stdout',
    '{"level":"error","msg":"embedded Postgres failed","error":"held"}',
    'embedded Postgres failed: held',
  ],
  ['stderr', '[7] 2026/11/20 12:00:00.000000 [INF] Server is ready', undefined],
  ['stderr', '[7] 2026/11/20 12:00:00.000000 [WRN] slow', '[7] 2026/11/20 12:00:00.000000 [WRN] slow'],
  ['stderr', 'EMBEDDING_PORT: expected number', 'EMBEDDING_PORT: expected number'],
  ['stdout', 'chatter', undefined],
] as const)('%s %s', (stream, text, shown) => {
  expect(selectForConsole({ stream, text })).toBe(shown);
});
