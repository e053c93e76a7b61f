import { describe, expect, it } from 'vitest';
import { MegaNestError } from './errors.js';

describe('MegaNestError', () => {
  it('fills its message from the table', () => {
    const error = new MegaNestError('context_length_exceeded', {
      tokens: 600,
      model: 'nano',
      limit: 512,
      param: 'input[0]',
    });
    expect(error.message).toBe('The input has 600 tokens, but nano takes at most 512.');
    expect(error).toMatchObject({ status: 400, type: 'invalid_request_error', param: 'input[0]' });
  });

  it('repeats long inputs in part alone', () => {
    const model = 'm'.repeat(100_000);
    const error = new MegaNestError('model_not_found', { model, available: 'nano-chat', param: model });
    expect(error.message).toBe(`The model ${'m'.repeat(200)}… does not exist. Available: nano-chat`);
    expect(error.param!.length).toBeLessThan(210);
    expect(new MegaNestError('invalid_request', { detail: model }).message.length).toBeLessThan(1_010);
  });

  it('survives the wire', () => {
    const error = new MegaNestError('overloaded', { service: 'llm', detail: 'a full queue', retryAfter: 2 });
    const copy = MegaNestError.fromBody(structuredClone(error.toBody()));
    expect(copy.toBody()).toEqual(error.toBody());
  });

  it('keeps the cause of what it wraps', () => {
    const cause = new Error('disk full');
    const error = MegaNestError.from(cause, 'dataprep');
    expect(error.cause).toBe(cause);
    expect(error.message).toBe('The dataprep service failed: disk full');
    expect(MegaNestError.from(error, 'gateway')).toBe(error);
  });
});
