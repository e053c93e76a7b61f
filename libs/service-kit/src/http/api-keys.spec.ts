import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { ApiKeys } from './api-keys.js';

function request(url: string, authorization?: string): FastifyRequest {
  return { url, headers: { authorization } } as unknown as FastifyRequest;
}

describe('ApiKeys', () => {
  const keys = new ApiKeys(['first', 'second']);

  it.each(['first', 'second'])('lets the key %s pass', (key) => {
    expect(() => keys.check(request('/v1/models', `Bearer ${key}`))).not.toThrow();
  });

  it.each([undefined, 'Bearer third', 'Bearer firs', 'first', 'Basic first', 'Bearer '])(
    'refuses %s',
    (authorization) => {
      expect(() => keys.check(request('/v1/models', authorization))).toThrow(/API key/);
    },
  );

  it('leaves the probes open', () => {
    expect(() => keys.check(request('/ready?x=1'))).not.toThrow();
    expect(() => keys.check(request('/v1/health_check'))).not.toThrow();
  });

  it('lets everything pass when there are no keys', () => {
    expect(() => new ApiKeys([]).check(request('/v1/models'))).not.toThrow();
  });
});
