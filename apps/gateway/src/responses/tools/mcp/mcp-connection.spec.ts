import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { McpConnection } from './mcp-connection.js';

const signal = new AbortController().signal;
const mebibyte = 2 ** 20;

/** Answers of a server by the method that is called. */
type Answers = Record<string, (response: ServerResponse, id: unknown) => void>;

function sendResult(response: ServerResponse, id: unknown, result: unknown): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

const welcome: Answers = {
  initialize: (response, id) =>
    sendResult(response, id, {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'hostile', version: '1' },
    }),
  'notifications/initialized': (response) => response.writeHead(202).end(),
};

describe('McpConnection', () => {
  let server: Server | undefined;
  let connection: McpConnection | undefined;
  afterEach(async () => {
    await connection?.close();
    server?.closeAllConnections();
    server?.close();
  });

  async function connect(answers: Answers): Promise<McpConnection> {
    server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        if (request.method !== 'POST') {
          response.writeHead(405).end();
          return;
        }
        const { id, method } = JSON.parse(Buffer.concat(pieces).toString()) as {
          id: unknown;
          method: string;
        };
        const answer = answers[method] ?? welcome[method];
        if (answer) answer(response, id);
        else response.writeHead(404).end();
      });
    });
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    connection = new McpConnection(
      { url, authorization: undefined, headers: {} },
      { allowPrivate: true, timeoutMs: 20_000 },
    );
    return connection;
  }

  const tool = { name: 'a', inputSchema: { type: 'object' } };

  it('runs no expression of a server over what the server returns', async () => {
    const outputSchema = { type: 'object', properties: { x: { type: 'string', pattern: '^(a+)+$' } } };
    const opened = await connect({
      'tools/list': (response, id) => sendResult(response, id, { tools: [{ ...tool, outputSchema }] }),
      'tools/call': (response, id) =>
        sendResult(response, id, { content: [], structuredContent: { x: `${'a'.repeat(28)}!` } }),
    });
    await opened.listTools(signal);
    const startedAt = performance.now();
    expect((await opened.callTool('a', {}, signal)).structuredContent).toMatchObject({});
    // The expression alone takes more than ten seconds.
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  it('inflates nothing', async () => {
    const opened = await connect({
      'tools/list': (response, id) => {
        const description = ' '.repeat(32 * mebibyte);
        const body = JSON.stringify({ jsonrpc: '2.0', id, result: { tools: [{ ...tool, description }] } });
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        response.end(gzipSync(body));
      },
    });
    await expect(opened.listTools(signal)).rejects.toThrow(/gzip/);
  });

  it('reads no answer beyond its limit', async () => {
    const opened = await connect({
      'tools/list': (response, id) =>
        sendResult(response, id, { tools: [{ ...tool, description: 'x'.repeat(17 * mebibyte) }] }),
    });
    await expect(opened.listTools(signal)).rejects.toThrow(/larger than/);
  });

  it('reads no event beyond its limit, though the stream is longer', async () => {
    const opened = await connect({
      'tools/list': (response, id) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const filler = `: ${'x'.repeat(mebibyte)}\n\n`;
        for (let count = 0; count < 6; count++) response.write(filler);
        const message = JSON.stringify({ jsonrpc: '2.0', id, result: { tools: [tool] } });
        response.end(`event: message\ndata: ${message}\n\n`);
      },
      'tools/call': (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        // The event is left open for ever.
        response.write(`data: ${'x'.repeat(5 * mebibyte)}`);
      },
    });
    expect(await opened.listTools(signal)).toHaveLength(1);
    const startedAt = performance.now();
    await expect(opened.callTool('a', {}, signal)).rejects.toThrow('larger than 4194304 bytes');
    // Without a report of the cut the call would end at its time limit of 20 seconds.
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(await opened.listTools(signal)).toHaveLength(1);
  });

  it('reads no more pages of a list that is longer than its limit', async () => {
    let page = 0;
    const description = 'x'.repeat(mebibyte / 2);
    const opened = await connect({
      'tools/list': (response, id) =>
        sendResult(response, id, { tools: [{ ...tool, description }], nextCursor: String(page++) }),
    });
    await expect(opened.listTools(signal)).rejects.toThrow(/longer than/);
    expect(page).toBe(2);
  });

  it('follows no list without an end', async () => {
    let page = 0;
    const opened = await connect({
      'tools/list': (response, id) => sendResult(response, id, { tools: [], nextCursor: String(page++) }),
    });
    await expect(opened.listTools(signal)).rejects.toThrow(/pages/);
    expect(page).toBeLessThan(100);
  });
});
