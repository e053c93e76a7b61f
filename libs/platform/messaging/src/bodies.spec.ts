import { setImmediate as turn } from 'node:timers/promises';
import { headers } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { maxBodyBytes, PartCollector, partSize, partsOf, requireSendable, Outbox } from './bodies.js';

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

describe('Outbox', () => {
  it('sends in order and together at the end of a turn', async () => {
    const sent: number[] = [];
    const outbox = new Outbox(() => {});
    outbox.add(() => sent.push(1));
    await Promise.resolve();
    outbox.add(() => sent.push(2));
    expect(sent).toEqual([]);
    await turn();
    expect(sent).toEqual([1, 2]);
    outbox.add(() => sent.push(3));
    outbox.flush();
    expect(sent).toEqual([1, 2, 3]);
    await turn();
    expect(sent).toEqual([1, 2, 3]);
  });

  it('tells of what cannot be sent, and sends the others', () => {
    const failures: unknown[] = [];
    const sent: number[] = [];
    const outbox = new Outbox((error) => failures.push(error));
    outbox.add(() => {
      throw new Error('closed');
    });
    outbox.add(() => sent.push(2));
    outbox.flush();
    expect(failures).toEqual([new Error('closed')]);
    expect(sent).toEqual([2]);
  });
});
