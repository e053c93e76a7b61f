import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An OpenAI-compatible engine, for tests. */
export interface CallingEngine {
  url: string;
  /** The bodies of its chat completions, oldest first. */
  asked: Record<string, unknown>[];
  close(): void;
}

/** Its model `caller` calls file_search where it can, and answers once it was told the result. */
export async function startCallingEngine(): Promise<CallingEngine> {
  const asked: Record<string, unknown>[] = [];
  const server = createServer((message, reply) => void answer(message, reply, asked));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface ChatBody {
  messages: { role: string }[];
  tools?: { function: { name: string } }[];
}

async function answer(
  message: IncomingMessage,
  reply: ServerResponse,
  asked: Record<string, unknown>[],
): Promise<void> {
  if (message.url === '/v1/models') {
    reply.setHeader('content-type', 'application/json');
    reply.end(JSON.stringify({ object: 'list', data: [{ id: 'caller', object: 'model' }] }));
    return;
  }
  if (message.url !== '/v1/chat/completions') {
    reply.writeHead(404).end();
    return;
  }
  const pieces: Buffer[] = [];
  for await (const piece of message) pieces.push(piece as Buffer);
  const body = JSON.parse(Buffer.concat(pieces).toString()) as Record<string, unknown> & ChatBody;
  asked.push(body);
  const isTold = body.messages.some(({ role }) => role === 'tool');
  const calls = !isTold && body.tools?.some((tool) => tool.function.name === 'file_search');
  const input = JSON.stringify({ queries: ['engine fuel', 'plum juice'] });
  const call = { index: 0, id: 'call_1', function: { name: 'file_search', arguments: input } };
  const said = isTold ? 'It runs on plum juice [1], or on sand [9].' : 'I see.';
  reply.writeHead(200, { 'content-type': 'text/event-stream' });
  reply.write(frame({ choices: [{ index: 0, delta: calls ? { tool_calls: [call] } : { content: said } }] }));
  reply.write(frame({ choices: [{ index: 0, delta: {}, finish_reason: calls ? 'tool_calls' : 'stop' }] }));
  reply.write(frame({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 9 } }));
  reply.end('data: [DONE]\n\n');
}

function frame(chunk: unknown): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
