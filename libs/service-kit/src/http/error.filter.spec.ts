import { MegaNestError } from '#contracts';
import { describe, expect, it } from 'vitest';
import { errorEnvelope } from './error.filter.js';

describe('errorEnvelope', () => {
  it("has OpenAI's four fields and nothing else", () => {
    const error = new MegaNestError('invalid_request', {
      detail: 'k: too big',
      param: 'k',
      service: 'retrieval',
    });
    expect(errorEnvelope(error)).toEqual({
      error: { message: 'k: too big', type: 'invalid_request_error', param: 'k', code: 'invalid_request' },
    });
  });
});
