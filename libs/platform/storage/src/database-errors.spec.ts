import { MegaNestError } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import { isAwayError, isConnectionError, isRetryableError, toMegaNestError } from './database-errors.js';

const withCode = (code: string, message = 'words of the database') =>
  Object.assign(new Error(message), { code });

describe('toMegaNestError', () => {
  it.each([
    withCode('57P01'),
    withCode('25P03'),
    withCode('08006'),
    withCode('53300'),
    withCode('28P01'),
    withCode('3D000'),
    withCode('ECONNREFUSED'),
    withCode('EAI_AGAIN'),
    new Error('Connection terminated unexpectedly'),
    new Error('timeout exceeded when trying to connect'),
    new Error('Query read timeout'),
  ])('reports %s as the database being away', (error) => {
    expect(isConnectionError(error)).toBe(true);
    expect(toMegaNestError(error)).toMatchObject({
      code: 'service_unavailable',
      service: 'postgres',
      retryAfter: 1,
      cause: error,
    });
  });

  it('asks to try again where another transaction holds a lock', () => {
    expect(toMegaNestError(withCode('55P03'))).toMatchObject({ code: 'service_unavailable', retryAfter: 1 });
  });

  it.each([withCode('42P01'), withCode('23505')])(
    'reports %s without its words, which may hold data of others',
    (error) => {
      expect(isConnectionError(error)).toBe(false);
      const reported = toMegaNestError(error);
      expect(reported.code).toBe('internal_error');
      expect(reported.message).not.toContain(error.message);
      expect(reported.cause).toBe(error);
    },
  );

  it('keeps the message of an error that is not of the database', () => {
    const reported = toMegaNestError(new TypeError('x is no function'));
    expect(reported).toMatchObject({
      code: 'internal_error',
      message: expect.stringContaining('x is no function'),
    });
  });

  it('says of a value that no index holds that the request is wrong', () => {
    const error = withCode('54000', 'index row size 2800 exceeds btree version 4 maximum 2704');
    expect(toMegaNestError(error)).toMatchObject({ code: 'invalid_request', status: 400 });
  });

  it('says of a number that its column does not hold that the request is wrong', () => {
    const error = withCode('22003', 'value "23309761729" is out of range for type integer');
    expect(toMegaNestError(error)).toMatchObject({ code: 'invalid_request', status: 400 });
  });

  it('names every address that refused', () => {
    const parts = [new Error('refused ::1'), new Error('refused 127.0.0.1')];
    const error = Object.assign(new AggregateError(parts), { code: 'ECONNREFUSED' });
    expect(toMegaNestError(error).message).toContain('refused ::1, refused 127.0.0.1');
  });

  it('tells a timeout, a deadlock and a ready-made error apart', () => {
    expect(toMegaNestError(withCode('57014')).code).toBe('deadline_exceeded');
    expect(isRetryableError(withCode('40P01'))).toBe(true);
    expect(isRetryableError(withCode('23505'))).toBe(false);
    const own = new MegaNestError('not_found', { what: 'x' });
    expect(toMegaNestError(own)).toBe(own);
  });
});

describe('isAwayError', () => {
  it.each([
    withCode('57P01'),
    withCode('57P03'),
    withCode('08006'),
    withCode('ECONNREFUSED'),
    withCode('ECONNRESET'),
    new Error('Connection terminated unexpectedly'),
  ])('expects the database back after %s', (error) => expect(isAwayError(error)).toBe(true));

  it.each([
    withCode('28P01'),
    withCode('3D000'),
    withCode('53300'),
    withCode('57014'),
    withCode('ENOTFOUND'),
    withCode('SELF_SIGNED_CERT_IN_CHAIN'),
    new Error('timeout exceeded when trying to connect'),
    new Error('Query read timeout'),
  ])('does not after %s', (error) => expect(isAwayError(error)).toBe(false));
});
