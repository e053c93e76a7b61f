import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '#platform/testing';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

export interface TestMcpServer {
  url: string;
  stop(): Promise<void>;
}

/** The project's own reference server, with a tool for everything; `sse` is the transport of older servers. */
export async function startEverythingServer(
  transport: 'streamableHttp' | 'sse' = 'streamableHttp',
): Promise<TestMcpServer> {
  const port = await freePort();
  const manifest = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/server-everything/package.json',
  );
  const child = spawn(process.execPath, [join(dirname(manifest), 'dist/index.js'), transport], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await untilLine(child, String(port));
  const path = transport === 'sse' ? 'sse' : 'mcp';
  return {
    url: `http://127.0.0.1:${port}/${path}`,
    stop: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function untilLine(child: ChildProcess, text: string): Promise<void> {
  if (!child.stderr) throw new Error('No stderr');
  for await (const line of createInterface({ input: child.stderr })) if (line.includes(text)) return;
  throw new Error('The MCP server ended before it listened');
}

export interface RecordingMcpServer extends TestMcpServer {
  /** Every request, by method and the `x-key` and `authorization` headers that it came with. */
  requests: { method: string; key: string | undefined; authorization: string | undefined }[];
  /** Calls of `hang` that were given up by the client. */
  abandoned: number;
}

/** A small server that remembers how it was asked: `look` reads, `add` adds, `fail` fails, `hang` never ends. */
export async function startRecordingServer(): Promise<RecordingMcpServer> {
  const recording: RecordingMcpServer = {
    url: '',
    requests: [],
    abandoned: 0,
    stop: () => Promise.resolve(),
  };
  const http = createServer((request, response) => {
    void (async () => {
      recording.requests.push(recordOf(request));
      const server = toolsOf(recording);
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
      response.once('close', () => void server.close());
      await server.connect(transport);
      await transport.handleRequest(request, response);
    })();
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  recording.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/tenant/secret-path?key=secret-query`;
  recording.stop = async () => {
    const closed = once(http, 'close');
    http.close();
    http.closeAllConnections();
    await closed;
  };
  return recording;
}

function recordOf({ method = '', headers }: IncomingMessage): RecordingMcpServer['requests'][number] {
  const key = headers['x-key'];
  return { method, key: Array.isArray(key) ? key[0] : key, authorization: headers.authorization };
}

function toolsOf(recording: RecordingMcpServer): McpServer {
  const server = new McpServer({ name: 'recording', version: '1.0.0' });
  const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });
  const numbers = { a: z.number(), b: z.number() };
  server.registerTool('look', { description: 'Looks.', annotations: { readOnlyHint: true } }, () =>
    text('nothing to see'),
  );
  server.registerTool('add', { description: 'Adds.', inputSchema: numbers }, ({ a, b }) =>
    text(`the sum is ${a + b}`),
  );
  server.registerTool('fail', { description: 'Fails.' }, () => ({ ...text('it broke'), isError: true }));
  server.registerTool('hang', { description: 'Hangs.' }, async ({ signal }) => {
    await once(signal, 'abort');
    recording.abandoned += 1;
    return text('too late');
  });
  return server;
}
