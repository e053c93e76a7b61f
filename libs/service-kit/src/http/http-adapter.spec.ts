import type { FastifyInstance } from 'fastify';
import { expect, it } from 'vitest';
import { baseEnvironmentSchema } from '../config/environment.js';
import { createLogger } from '../logger.js';
import { createHttpAdapter } from './http-adapter.js';

it.each([
  [{}, 600_000],
  [{ RECEIVE_TIMEOUT_MS: '5000' }, 5_000],
])('bounds the time to receive a request: %o', async (variables, expected) => {
  const adapter = createHttpAdapter(baseEnvironmentSchema.parse(variables), createLogger('test', 'silent'));
  const server = adapter.getInstance<FastifyInstance>();
  expect(server.server.requestTimeout).toBe(expected);
  await server.close();
});
