import { headers } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { maxBodyBytes, PartCollector, partSize, partsOf, requireSendable } from './parts.js';

const body = Buffer.from('0123456789');

describe('a body in parts', () => {
  it.each([1, 3, 5, 10, 11])('comes out as it went in, in messages of %i bytes', (size) => {
    const collector = new PartCollector();
    const parts = [...partsOf(body, size)];
    expect(parts).toHaveLength(Math.ceil(body.length / size));
    const outcomes = parts.map((part) => collector.add(part, 'step'));
    expect(outcomes.slice(0, -1).every((outcome) => outcome === undefined)).toBe(true);
    expect(outcomes.at(-1)).toEqual(body);
  });

  it('fails where a part is missing, and where it is too large', () => {
    const [, ...rest] = partsOf(body, 4);
    const collector = new PartCollector();
    expect(() => rest.map((part) => collector.add(part, 'step'))).toThrow('6 of 10 bytes');
    expect(() => requireSendable(maxBodyBytes + 1, 'The message')).toThrow(`${maxBodyBytes} bytes`);
    const large = { data: new Uint8Array(maxBodyBytes + 1), headers: headers() };
    expect(() => new PartCollector().add(large, 'step')).toThrow(`${maxBodyBytes} bytes`);
  });

  it('leaves room for headers', () => {
    expect(partSize({ info: { max_payload: 1024 * 1024 } as never })).toBe(1008 * 1024);
  });
});
