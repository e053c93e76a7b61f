import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, vi } from 'vitest';
import { Bridge } from './bridge.js';

class Gone extends Error {}

/** An end of a connection in memory. */
class MemoryEnd implements Transport {
  readonly sent: JSONRPCMessage[] = [];
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(
    private readonly answer: (message: JSONRPCMessage) => JSONRPCMessage | Error | undefined = () =>
      undefined,
  ) {}

  start = () => Promise.resolve();
  close = () => Promise.resolve();

  async send(message: JSONRPCMessage): Promise<void> {
    this.sent.push(message);
    const answer = this.answer(message);
    if (answer instanceof Error) throw answer;
    if (answer) this.onmessage?.(answer);
  }
}

const initialize: JSONRPCMessage = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const list: JSONRPCMessage = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const answering = (message: JSONRPCMessage) =>
  'id' in message ? ({ jsonrpc: '2.0', id: message.id, result: {} } as JSONRPCMessage) : undefined;

async function bridgeTo(...servers: MemoryEnd[]) {
  const client = new MemoryEnd();
  const connect = () => servers.shift() ?? new MemoryEnd(() => new Error('refused'));
  const lostSession = (error: unknown) => error instanceof Gone;
  await new Bridge({ client, connect, lostSession, warn: () => undefined }).start();
  return client;
}

describe('the bridge of `meganest mcp`', () => {
  it('passes messages on and answers back', async () => {
    const server = new MemoryEnd(answering);
    const client = await bridgeTo(server);
    client.onmessage?.(initialize);
    await vi.waitFor(() => expect(client.sent).toHaveLength(1));
    client.onmessage?.(list);
    await vi.waitFor(() => expect(client.sent.at(-1)).toMatchObject({ id: 1, result: {} }));
    expect(server.sent).toEqual([initialize, list]);
  });

  it('opens a lost session again, without a second answer to initialize', async () => {
    const lost = new MemoryEnd((message) =>
      'method' in message && message.method === 'tools/list' ? new Gone() : answering(message),
    );
    const fresh = new MemoryEnd(answering);
    const client = await bridgeTo(lost, fresh);
    client.onmessage?.(initialize);
    await vi.waitFor(() => expect(client.sent).toHaveLength(1));
    client.onmessage?.(list);
    await vi.waitFor(() => expect(client.sent).toHaveLength(2));
    expect(client.sent.map((message) => 'id' in message && message.id)).toEqual([0, 1]);
    expect(fresh.sent.map((message) => 'method' in message && message.method)).toEqual([
      'initialize',
      'notifications/initialized',
      'tools/list',
    ]);
  });

  it('answers a request with the problem', async () => {
    const client = await bridgeTo();
    client.onmessage?.(list);
    await vi.waitFor(() => expect(client.sent).toHaveLength(1));
    expect(client.sent[0]).toMatchObject({
      id: 1,
      error: { message: 'MegaNest cannot be reached: refused' },
    });
  });
});
