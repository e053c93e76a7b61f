import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

export const engineModel = 'scripted-1';

/** A chat completion request, as the engine gets it. */
export interface EngineBody {
  [field: string]: unknown;
  messages: { role: string; content: unknown; tool_call_id?: string }[];
  tools?: { type: string; function: { name: string; parameters?: unknown } }[];
}

/** What the engine answers to one request. */
export interface EngineTurn {
  text?: string;
  reasoning?: string;
  calls?: { id?: string; name: string; arguments: string }[];
  finish?: string;
  /** Pause before each word of the text. */
  pauseMs?: number;
  /** Refuses: this status with this body, in the place of an answer. */
  refuse?: { status: number; body: unknown; headers?: Record<string, string> };
  /** Sends nothing until then. */
  until?: Promise<unknown>;
  /** Sends this body in place of the other fields. */
  raw?: string;
}

/** An OpenAI-compatible engine in this process, for tests. */
export interface ScriptedEngine {
  url: string;
  /** Bodies of its chat completions, oldest first. */
  asked: EngineBody[];
  /** The requests that their client left before the answer was complete. */
  left: EngineBody[];
  /** What it answers; the last user message where there is no script. */
  script: ((body: EngineBody) => EngineTurn) | undefined;
  /** Answers of other paths, as JSON: `/props`. */
  routes: Record<string, (body: unknown) => unknown>;
  close(): void;
}

/** Starts it on a free port; `model` says more about its model in the list of models. */
export async function startScriptedEngine(model: Record<string, unknown> = {}): Promise<ScriptedEngine> {
  const engine: ScriptedEngine = {
    url: '',
    asked: [],
    left: [],
    script: undefined,
    routes: {
      '/v1/models': () => ({ object: 'list', data: [{ id: engineModel, object: 'model', ...model }] }),
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  const server = createServer((message, reply) => void serve(engine, message, reply));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  engine.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return engine;
}

async function serve(engine: ScriptedEngine, message: IncomingMessage, reply: ServerResponse): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of message) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString();
  const body = text === '' ? {} : (JSON.parse(text) as unknown);
  const path = message.url ?? '';
  if (path === '/v1/chat/completions') return answer(engine, body as EngineBody, reply);
  const route = engine.routes[path];
  reply.writeHead(route ? 200 : 404, { 'content-type': 'application/json' });
  reply.end(JSON.stringify(route ? route(body) : { detail: 'Not Found' }));
}

async function answer(engine: ScriptedEngine, body: EngineBody, reply: ServerResponse): Promise<void> {
  engine.asked.push(body);
  reply.once('close', () => {
    if (!reply.writableFinished) engine.left.push(body);
  });
  const turn = engine.script?.(body) ?? { text: lastText(body) };
  await turn.until;
  if (reply.destroyed) return;
  if (turn.refuse) {
    reply.writeHead(turn.refuse.status, { 'content-type': 'application/json', ...turn.refuse.headers });
    reply.end(JSON.stringify(turn.refuse.body));
    return;
  }
  reply.writeHead(200, { 'content-type': 'text/event-stream' });
  if (turn.raw !== undefined) return void reply.end(turn.raw);
  const send = (delta: object, finish: string | null = null) =>
    void reply.write(frame({ choices: [{ index: 0, delta, finish_reason: finish }] }));
  if (turn.reasoning) send({ reasoning_content: turn.reasoning });
  const limit = typeof body['max_tokens'] === 'number' ? body['max_tokens'] : Infinity;
  const words = (turn.text ?? '').split(/(?<=\s)/);
  for (const word of words.slice(0, limit)) {
    if (turn.pauseMs) await wait(turn.pauseMs);
    if (reply.destroyed) return;
    send({ content: word });
  }
  for (const [index, { id, name, arguments: input }] of (turn.calls ?? []).entries())
    send({
      tool_calls: [
        { index, id: id ?? `call_${index}`, type: 'function', function: { name, arguments: input } },
      ],
    });
  const isCut = words.length > limit;
  send({}, isCut ? 'length' : (turn.finish ?? (turn.calls ? 'tool_calls' : 'stop')));
  const usage = { prompt_tokens: 10, completion_tokens: Math.min(words.length, limit) };
  reply.write(frame({ choices: [], usage: { ...usage, total_tokens: 10 + usage.completion_tokens } }));
  reply.end('data: [DONE]\n\n');
}

/** The text of the last user message, its parts joined. */
export function lastText({ messages }: EngineBody): string {
  return textOf(messages.findLast(({ role }) => role === 'user')?.content);
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as { text?: string }[]).map(({ text = '' }) => text).join(' ');
}

function frame(chunk: unknown): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
