import { EventEmitter } from 'node:events';
import { MegaNestError } from '#platform/contracts';
import type { WebSocket } from '@fastify/websocket';
import { afterEach, describe, expect, it } from 'vitest';
import { ResponseSocket, type ResponseSocketOptions } from './response-socket.js';

/** A client's connection: what it was sent, and how much of it lies unread. */
class TestSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  terminated = false;
  readonly sent: { status?: number; error?: { code: string } }[] = [];

  send(text: string, done: () => void): void {
    this.sent.push(JSON.parse(text) as { status: number });
    done();
  }

  terminate(): void {
    this.terminated = true;
    this.readyState = 3;
  }

  close(): void {
    this.readyState = 3;
  }

  receive(text: string): void {
    this.emit('message', Buffer.from(text), false);
  }
}

const bounds = {
  maxLanes: 8,
  maxTurns: 32,
  maxBytes: 1000,
  maxResponses: 4,
  maxContextSize: 1000,
  pingMs: 60_000,
  lifetimeMs: 60_000,
  turnTimeoutMs: 1000,
  streamTimeoutMs: 7_200_000,
};

describe('ResponseSocket', () => {
  let socket: TestSocket;
  afterEach(() => socket.emit('close'));

  function open(options: Partial<ResponseSocketOptions> = {}): TestSocket {
    socket = new TestSocket();
    const never = () => new Promise<never>(() => {});
    const all = {
      bounds,
      traceparent: '',
      admit: () => Promise.resolve(),
      hold: () => () => {},
      start: never,
      ...options,
    };
    expect(new ResponseSocket(socket as unknown as WebSocket, all)).toBeDefined();
    return socket;
  }

  const codes = () => socket.sent.map(({ error }) => error?.code);

  it('cuts off a client that sends and does not read', () => {
    const client = open();
    client.bufferedAmount = 5 * 1024 * 1024;
    client.receive('x');
    expect(client.terminated).toBe(true);
  });

  it('cuts off a client that sends faster than it can be refused', () => {
    const client = open();
    for (let count = 0; count < 5000; count++) client.receive('x');
    expect(client.terminated).toBe(true);
  });

  it('counts messages that are refused', async () => {
    let admitted = 0;
    const client = open({
      admit: () => {
        if (++admitted > 2) return Promise.reject(new MegaNestError('rate_limit_exceeded', { detail: '' }));
        return Promise.resolve();
      },
    });
    for (let count = 0; count < 4; count++) client.receive('x');
    await expect.poll(() => client.sent.length).toBe(4);
    expect(codes()).toEqual(['invalid_json', 'invalid_json', 'rate_limit_exceeded', 'rate_limit_exceeded']);
  });

  it('counts messages from their arrival on, also those that were not looked at yet', async () => {
    let held = 0;
    const hold = (bytes: number) => {
      held += bytes;
      return () => void (held -= bytes);
    };
    const client = open({ hold, admit: () => new Promise((resolve) => setImmediate(resolve)) });
    for (let count = 0; count < 500; count++) client.receive('x'.repeat(900));
    expect(held).toBe(900);
    await expect.poll(() => client.sent.length).toBe(500);
    expect(codes().filter((code) => code === 'overloaded')).toHaveLength(499);
    expect(held).toBe(0);
  });

  it('refuses a message where all clients together have sent too much', async () => {
    const hold = () => {
      throw new MegaNestError('overloaded', { service: 'gateway', detail: 'enough', retryAfter: 1 });
    };
    const client = open({ hold });
    client.receive(JSON.stringify({ type: 'response.create', input: 'x' }));
    await expect.poll(() => codes()).toEqual(['overloaded']);
  });

  it('holds a bounded number of bytes of turns that wait', async () => {
    const client = open();
    const message = JSON.stringify({ type: 'response.create', input: 'x'.repeat(600) });
    client.receive(message);
    client.receive(message);
    await expect.poll(() => codes()).toEqual(['overloaded']);
  });
});
