import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { startService, startStack, type TestService, type TestStack } from '#testing';
import type OpenAI from 'openai';
import { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  assertNumbered,
  collect,
  failureOf,
  newClient,
  problemsOf,
  responseOf,
  type Response,
} from './helpers/response-events.js';

const engineText = 'The Quibblewick engine runs on fermented plum juice. It was built in a barn near Lisbon.';
const clockText = 'The Snorfle clock has sixteen cogs. It was made by a baker.';
const question = 'What does the Quibblewick engine run on?';

let stack: TestStack;
let client: OpenAI;
let storeId: string;
let engineFile: string;

beforeAll(async () => {
  stack = await startStack();
  client = newClient(stack.service('gateway').url);
  const store = await client.vectorStores.create({});
  storeId = store.id;
  const fast = { pollIntervalMs: 50 };
  const engine = await toFile(Buffer.from(engineText), 'engine.md');
  const clock = await toFile(Buffer.from(clockText), 'clock.md');
  ({ id: engineFile } = await client.vectorStores.files.uploadAndPoll(storeId, engine, fast));
  const { id } = await client.vectorStores.files.uploadAndPoll(storeId, clock, fast);
  await client.vectorStores.files.update(id, { vector_store_id: storeId, attributes: { kind: 'clock' } });
});
afterAll(() => stack?.stop());

const tool = (more: Partial<OpenAI.Responses.FileSearchTool> = {}) => ({
  type: 'file_search' as const,
  vector_store_ids: [storeId],
  ...more,
});

interface SearchCall {
  queries: string[];
  results: OpenAI.Responses.ResponseFileSearchToolCall['results'];
}

function searchOf({ output }: Response): SearchCall {
  const [call] = output;
  if (call?.type !== 'file_search_call') throw new Error(`The first item is ${call?.type}`);
  expect(problemsOf('FileSearchToolCall', call)).toEqual([]);
  return { queries: call.queries, results: call.results };
}

function answerOf({ output }: Response): OpenAI.Responses.ResponseOutputText {
  const message = output.at(-1);
  const part = message?.type === 'message' ? message.content[0] : undefined;
  if (part?.type !== 'output_text') throw new Error('The response ends without a text');
  return part;
}

/** Fails unless the answer cites files, and every sentence that is cited really stands there. */
function assertCited(
  { text, annotations }: OpenAI.Responses.ResponseOutputText,
  fileId: string,
  source: string,
) {
  expect(annotations.length).toBeGreaterThan(0);
  for (const annotation of annotations) {
    expect(problemsOf('FileCitationBody', annotation)).toEqual([]);
    if (annotation.type !== 'file_citation') throw new Error(annotation.type);
    expect(annotation.file_id).toBe(fileId);
    const cited = text
      .slice(0, annotation.index)
      .replaceAll(/\s*\[\d+\]/g, '')
      .trim();
    expect(source).toContain(cited.split('. ').at(-1));
  }
}

describe('file_search for a model that calls no tools', () => {
  const model = 'nano-chat';

  it('searches the question first, and the answer cites the file', async () => {
    const response = await client.responses.create({
      model,
      input: question,
      tools: [tool()],
      tool_choice: { type: 'file_search' },
      include: ['file_search_call.results'],
    });
    const { queries, results } = searchOf(response);
    expect(queries).toEqual([question]);
    expect(results?.[0]).toMatchObject({
      file_id: engineFile,
      filename: 'engine.md',
      text: engineText,
      attributes: {},
    });
    const answer = answerOf(response);
    expect(answer.text).toContain('fermented plum juice');
    assertCited(answer, engineFile, engineText);
    expect(problemsOf('Response', response)).toEqual([]);
  });

  it('streams its events in order, and shows results only where they are asked for', async () => {
    const events = await collect(
      await client.responses.create({ model, input: question, tools: [tool()], stream: true }),
    );
    assertNumbered(events, 0);
    const types = events.map(({ type }) => type).filter((type) => /file_search|item|annotation/.test(type));
    expect(types.slice(0, 5)).toEqual([
      'response.output_item.added',
      'response.file_search_call.in_progress',
      'response.file_search_call.searching',
      'response.file_search_call.completed',
      'response.output_item.done',
    ]);
    expect(types).toContain('response.output_text.annotation.added');
    expect(searchOf(responseOf(events)).results ?? null).toBeNull();
  });

  it('looks at the files that pass its filter, and says what is wrong with a tool', async () => {
    const response = await client.responses.create({
      model,
      input: question,
      tools: [tool({ filters: { type: 'eq', key: 'kind', value: 'clock' }, max_num_results: 5 })],
      include: ['file_search_call.results'],
    });
    expect(searchOf(response).results?.map(({ filename }) => filename)).toEqual(['clock.md']);
    const ask = (wrong: Partial<OpenAI.Responses.FileSearchTool>) =>
      failureOf(client.responses.create({ model, input: question, tools: [tool(wrong)] }));
    expect(await ask({ max_num_results: 51 })).toMatchObject({
      status: 400,
      param: 'tools.0.max_num_results',
    });
    expect(await ask({ vector_store_ids: ['vs_unknown'] })).toMatchObject({ status: 404 });
  });
});

describe('file_search for a model that calls tools', () => {
  let engine: Server;
  let llm: TestService;
  const asked: Record<string, unknown>[] = [];

  beforeAll(async () => {
    engine = createServer((message, reply) => void answerAsEngine(message, reply, asked));
    engine.listen(0, '127.0.0.1');
    await once(engine, 'listening');
    await stack.service('llm').stop();
    const endpoint = `http://127.0.0.1:${(engine.address() as AddressInfo).port}`;
    llm = await startService('llm', { ...stack.env, LLM_ENDPOINT: endpoint });
  });
  afterAll(async () => {
    await llm?.stop();
    engine?.closeAllConnections();
    engine?.close();
  });

  it('searches for its queries, tells it numbered passages, and annotates what it cites', async () => {
    const response = await client.responses.create({
      model: 'caller',
      input: question,
      tools: [tool({ max_num_results: 2 })],
      include: ['file_search_call.results'],
    });
    expect(asked[0]).toMatchObject({ tools: [{ function: { name: 'file_search' } }] });
    const { messages } = asked[1] as { messages: { role: string; content: string }[] };
    const told = messages.at(-1);
    expect(told?.role).toBe('tool');
    expect(told?.content).toContain(`[1] engine.md\n${engineText}`);
    expect(searchOf(response).queries).toEqual(['engine fuel', 'plum juice']);
    expect(searchOf(response).results).toHaveLength(2);
    const answer = answerOf(response);
    expect(answer.text).toContain('plum juice');
    // [1] is a passage, [9] is none: what points nowhere gets no annotation.
    expect(answer.annotations).toMatchObject([{ type: 'file_citation', file_id: engineFile }]);
    expect(problemsOf('Response', response)).toEqual([]);
  });
});

/** An OpenAI-compatible engine whose model calls file_search, and answers once it was told the result. */
async function answerAsEngine(
  message: IncomingMessage,
  reply: ServerResponse,
  asked: Record<string, unknown>[],
): Promise<void> {
  if (message.url === '/v1/models') {
    reply.setHeader('content-type', 'application/json');
    reply.end(JSON.stringify({ object: 'list', data: [{ id: 'caller', object: 'model' }] }));
    return;
  }
  const pieces: Buffer[] = [];
  for await (const piece of message) pieces.push(piece as Buffer);
  const body = JSON.parse(Buffer.concat(pieces).toString()) as { messages: { role: string }[] };
  asked.push(body);
  const isTold = body.messages.some(({ role }) => role === 'tool');
  const input = JSON.stringify({ queries: ['engine fuel', 'plum juice'] });
  const call = { index: 0, id: 'call_1', function: { name: 'file_search', arguments: input } };
  const deltas = isTold
    ? [{ content: 'It runs on plum juice [1], or on sand [9].' }]
    : [{ tool_calls: [call] }];
  reply.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const delta of deltas) reply.write(frame({ choices: [{ index: 0, delta }] }));
  const finish_reason = isTold ? 'stop' : 'tool_calls';
  reply.write(frame({ choices: [{ index: 0, delta: {}, finish_reason }] }));
  reply.write(frame({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 9 } }));
  reply.end('data: [DONE]\n\n');
}

function frame(chunk: unknown): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
