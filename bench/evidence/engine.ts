import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface EngineMessage {
  readonly role: string;
  readonly content: string;
}

/** A prompt for an answer, and when the engine had it. */
export interface RecordedPrompt {
  readonly messages: readonly EngineMessage[];
  readonly at: number;
}

/** An OpenAI-compatible engine that records prompts and answers at once, always the same. */
export interface RecordingEngine {
  readonly url: string;
  /** What it answers when it is asked for search queries; undefined: it refuses. */
  queries: readonly string[] | undefined;
  /** Prompts for answers, oldest first. */
  readonly prompts: RecordedPrompt[];
  /** Calls for search queries. */
  queryCalls: number;
  close(): Promise<void>;
}

type Body = { messages: { role: string; content: unknown }[] };

/** Whether a prompt asks for search queries: it begins with this task, and it has no evidence. */
export function asksForQueries(messages: readonly EngineMessage[]): boolean {
  const text = messages.map(({ content }) => content).join('\n');
  const isTask = /search quer(?:y|ies)/i.test(text.slice(0, 300)) && /\bJSON\b/i.test(text);
  return isTask && !/^\[1\] /m.test(text);
}

/** Starts it on a free port. `windows`: the tokens of each of its models by name. */
export async function startEngine(windows: Readonly<Record<string, number>>): Promise<RecordingEngine> {
  const models = Object.entries(windows).map(([id, max_model_len]) => ({
    id,
    object: 'model',
    owned_by: 'vllm',
    max_model_len,
  }));
  const server = createServer((request, response) => void serve(engine, models, request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const engine: RecordingEngine = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    queries: undefined,
    prompts: [],
    queryCalls: 0,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return engine;
}

async function serve(
  engine: RecordingEngine,
  models: readonly object[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const at = performance.now();
  if (request.url === '/v1/models') return sendJson(response, 200, { object: 'list', data: models });
  if (request.url !== '/v1/chat/completions') return sendJson(response, 404, { detail: 'Not Found' });
  const { messages } = JSON.parse(Buffer.concat(pieces).toString()) as Body;
  const texts = messages.map(({ role, content }) => ({ role, content: textOf(content) }));
  if (!asksForQueries(texts)) {
    engine.prompts.push({ messages: texts, at });
    return stream(response, 'The answer is in the documents [1].');
  }
  engine.queryCalls += 1;
  if (!engine.queries) return sendJson(response, 503, { error: { message: 'no queries' } });
  stream(response, JSON.stringify(engine.queries));
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content)
    ? (content as { text?: string }[]).map(({ text = '' }) => text).join('\n')
    : '';
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function stream(response: ServerResponse, text: string): void {
  const frame = (chunk: object) => `data: ${JSON.stringify(chunk)}\n\n`;
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(frame({ choices: [{ index: 0, delta: { content: text }, finish_reason: null }] }));
  response.write(frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
  response.end(`${frame({ choices: [], usage })}data: [DONE]\n\n`);
}
