import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { baseEnvironmentSchema } from '../config/environment.js';
import { callerLabels } from './caller-labels.js';
import { createHttpAdapter } from './http-adapter.js';

describe('callerLabels', () => {
  it.each([
    [
      { user: 'u-1', safety_identifier: 's-1', other: 1 },
      { user: 'u-1', safety_identifier: 's-1' },
    ],
    [{ user: 5, safety_identifier: '' }, {}],
    [{ user: 'x'.repeat(200) }, { user: 'x'.repeat(128) }],
    [null, {}],
    ['text', {}],
  ])('of %j', (body, labels) => {
    expect(callerLabels(body)).toEqual(labels);
  });

  it('stand in the access log', async () => {
    const lines: string[] = [];
    const logger = pino({}, { write: (line: string) => void lines.push(line) });
    const server = createHttpAdapter(baseEnvironmentSchema.parse({}), logger).getInstance();
    server.post('/ask', (_request, reply) => reply.send('ok'));
    await server.inject({ method: 'POST', url: '/ask', payload: { user: 'u-1', safety_identifier: 's-1' } });
    await server.close();
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ path: '/ask', user: 'u-1', safety_identifier: 's-1' });
  });
});
