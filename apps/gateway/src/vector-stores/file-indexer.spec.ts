import { MegaNestError } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { indexingFailure, pauseBeforeRetry } from './file-indexer.js';

const away = new MegaNestError('service_unavailable', { service: 'dataprep', detail: 'gone' });
const unreadable = new MegaNestError('unsupported_file', {
  file: 'file-1/a.png',
  detail: 'it is a PNG image',
});
const tooLarge = new MegaNestError('payload_too_large', { what: 'The file a.txt', limit: '1 byte' });

describe('a file that was not indexed', () => {
  it('is tried again, ever later, where a service is at fault', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7].map((attempts) => pauseBeforeRetry(away, attempts) ?? 0);
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000]);
    expect(pauseBeforeRetry(away, 8)).toBeUndefined();
    const busy = new MegaNestError('overloaded', {
      service: 'embedding',
      detail: 'a full queue',
      retryAfter: 9,
    });
    expect(pauseBeforeRetry(busy, 1)).toBe(9_000);
  });

  it('is not where it is at fault itself', () => {
    expect(pauseBeforeRetry(unreadable, 1)).toBeUndefined();
    expect(pauseBeforeRetry(tooLarge, 1)).toBeUndefined();
  });

  it('fails with a code and under its own name', () => {
    const file = { fileId: 'file-1' };
    expect(indexingFailure(unreadable, file)).toEqual({
      code: 'unsupported_file',
      message: 'The file a.png cannot be read: it is a PNG image',
    });
    expect(indexingFailure(tooLarge, file).code).toBe('invalid_file');
    expect(indexingFailure(away, file).code).toBe('server_error');
  });
});
