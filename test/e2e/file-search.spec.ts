import { startService, startStack, type TestService, type TestStack } from '#platform/testing';
import type OpenAI from 'openai';
import { toFile } from 'openai';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCallingEngine, type CallingEngine } from './helpers/calling-engine.js';
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

describe('files of a vector store', () => {
  it('are uploaded, listed, looked at and awaited by the client', async () => {
    const store = await client.vectorStores.create({});
    const within = { vector_store_id: store.id };
    const names = ['one', 'two', 'three'];
    const [one, two, three] = await Promise.all(
      names.map(async (name) => {
        const file = await toFile(Buffer.from(`${name} zorps.`), `${name}.md`);
        return client.files.create({ file, purpose: 'user_data' });
      }),
    );
    expect(await client.files.waitForProcessing(one?.id ?? '')).toMatchObject({ status: 'processed' });
    const file = await toFile(Buffer.from('No zorps.'), 'none.md');
    const uploaded = await client.vectorStores.files.upload(store.id, file);
    const file_ids = [one, two].map((each) => each?.id ?? '');
    const fast = { pollIntervalMs: 50 };
    const batch = await client.vectorStores.fileBatches.createAndPoll(store.id, { file_ids }, fast);
    expect(batch).toMatchObject({ status: 'completed', file_counts: { completed: 2, total: 2 } });
    expect(await client.vectorStores.fileBatches.retrieve(batch.id, within)).toEqual(batch);
    const begun = await client.vectorStores.fileBatches.create(store.id, { file_ids: [three?.id ?? ''] });
    expect(await client.vectorStores.fileBatches.poll(store.id, begun.id, fast)).toMatchObject({
      status: 'completed',
    });
    await client.vectorStores.files.poll(store.id, uploaded.id, fast);
    const listed: string[] = [];
    for await (const each of client.vectorStores.files.list(store.id, { limit: 3 })) listed.push(each.id);
    expect(new Set(listed)).toEqual(new Set([...file_ids, three?.id, uploaded.id]));
    expect(await client.vectorStores.files.retrieve(uploaded.id, within)).toMatchObject({
      status: 'completed',
      vector_store_id: store.id,
    });
  });
});

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

  it('answers without passages, and cites nothing, where nothing is found', async () => {
    const filters = { type: 'eq' as const, key: 'kind', value: 'nothing' };
    const response = await client.responses.create({
      model,
      input: question,
      tools: [tool({ filters })],
      tool_choice: { type: 'file_search' },
      include: ['file_search_call.results'],
    });
    expect(response.status).toBe('completed');
    expect(searchOf(response).results).toEqual([]);
    const answer = answerOf(response);
    expect(answer.annotations).toEqual([]);
    expect(answer.text).not.toBe('');
    expect(problemsOf('Response', response)).toEqual([]);
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
      param: 'tools[0].max_num_results',
    });
    expect(await ask({ vector_store_ids: ['vs_unknown'] })).toMatchObject({ status: 404 });
  });
});

describe('files with vectors of another embedding model', () => {
  const setModel = async (from: string, to: string) => {
    const database = new Client(stack.postgres.connectionString);
    await database.connect();
    const statement = 'UPDATE documents SET embedding_model = $2 WHERE embedding_model LIKE $1';
    const { rows } = await database.query<{ embedding_model: string }>(
      'SELECT embedding_model FROM documents',
    );
    await database.query(statement, [from, to]);
    await database.end();
    return rows[0]!.embedding_model;
  };

  it('are searched by words, which the search and the response say', async () => {
    const search = () => client.vectorStores.search(storeId, { query: question }).withResponse();
    const ask = () =>
      client.responses.create({ model: 'nano-chat', input: question, tools: [tool()] }).withResponse();
    const headers = async () =>
      (await Promise.all([search(), ask()])).map(({ response }) =>
        response.headers.get('x-meganest-degraded'),
      );
    expect(await headers()).toEqual([null, null]);
    const model = await setModel('%', 'old-model@1');
    try {
      expect(await headers()).toEqual(['retrieval', 'retrieval']);
      const { data } = await search();
      expect(data.data[0]).toMatchObject({ filename: 'engine.md', content: [{ text: engineText }] });
    } finally {
      await setModel('old-model@1', model);
    }
  });
});

describe('file_search for a model that calls tools', () => {
  let engine: CallingEngine;
  let llm: TestService;

  beforeAll(async () => {
    engine = await startCallingEngine();
    await stack.service('llm').stop();
    const settings = { LLM_ENDPOINT: engine.url, LLM_MODALITIES: 'text,image' };
    llm = await startService('llm', { ...stack.env, ...settings });
  });
  afterAll(async () => {
    await llm?.stop();
    engine?.close();
  });

  it('searches for its queries, tells it numbered passages, and annotates what it cites', async () => {
    const response = await client.responses.create({
      model: 'caller',
      input: question,
      tools: [tool({ max_num_results: 2 })],
      include: ['file_search_call.results'],
    });
    expect(engine.asked[0]).toMatchObject({ tools: [{ function: { name: 'file_search' } }] });
    const { messages } = engine.asked[1] as { messages: { role: string; content: string }[] };
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

  it('is told the rest of the section of what was found', async () => {
    const filler = Array.from(
      { length: 12 },
      (_unused, index) => `Part ${index} of it is made of plain grey steel.`,
    );
    const text = `# Manual\n\nThe engine burns plum juice.\n\n${filler.join(' ')}\n\nThe last valve is green.`;
    const { id } = await client.vectorStores.create({});
    const file = await toFile(Buffer.from(text), 'manual.md');
    await client.vectorStores.files.uploadAndPoll(id, file, { pollIntervalMs: 50 });
    const before = engine.asked.length;
    const tools = [tool({ vector_store_ids: [id], max_num_results: 1 })];
    const include = ['file_search_call.results' as const];
    const response = await client.responses.create({ model: 'caller', input: question, tools, include });
    const { messages } = engine.asked[before + 1] as { messages: { content: string }[] };
    expect(messages.at(-1)?.content).toMatch(/^\[1] Manual \(manual\.md\)\nThe engine[^]*valve is green\.$/);
    const results = searchOf(response).results;
    expect(results).toHaveLength(1);
    expect(results?.[0]?.text).not.toContain('valve');
  });

  describe('and sees', () => {
    const png = Buffer.from('89504e470d0a1a0a00', 'hex');
    const url = `data:image/png;base64,${png.toString('base64')}`;
    const seen = (text: string) => [
      {
        role: 'user',
        content: [
          { type: 'text', text },
          { type: 'image_url', image_url: { url, detail: 'low' } },
        ],
      },
    ];
    const shown = (image_url: string): OpenAI.ChatCompletionMessageParam[] => [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What?' },
          { type: 'image_url', image_url: { url: image_url, detail: 'low' } },
        ],
      },
    ];

    it('is shown images of chats and responses, stored ones too', async () => {
      const completion = await client.chat.completions.create({ model: 'caller', messages: shown(url) });
      expect(completion.choices[0]?.message.content).toBe('I see.');
      expect(engine.asked.at(-1)?.['messages']).toEqual(seen('What?'));
      const file = await client.files.create({ file: await toFile(png, 'a.png'), purpose: 'vision' });
      const part = { type: 'input_image' as const, file_id: file.id, detail: 'low' as const };
      const content = [{ type: 'input_text' as const, text: 'And this?' }, part];
      const input = [{ role: 'user' as const, content }];
      const first = await client.responses.create({ model: 'caller', input, background: true });
      await expect.poll(async () => (await client.responses.retrieve(first.id)).status).toBe('completed');
      expect(engine.asked.at(-1)?.['messages']).toEqual(seen('And this?'));
      await client.responses.create({ model: 'caller', input: 'More?', previous_response_id: first.id });
      expect(engine.asked.at(-1)?.['messages']).toMatchObject([
        ...seen('And this?'),
        {},
        { content: 'More?' },
      ]);
    });

    it('is shown no address inside the network, and nothing that is no image', async () => {
      const ask = (image: string) =>
        failureOf(client.chat.completions.create({ model: 'caller', messages: shown(image) }));
      const param = 'messages[0].content[1]';
      expect(await ask(`${engine.url}/cat.png`)).toEqual({ status: 400, code: 'forbidden_url', param });
      const text = `data:image/png;base64,${Buffer.from('words').toString('base64')}`;
      expect(await ask(text)).toEqual({ status: 400, code: 'unsupported_file', param });
      const unread = client.chat.completions.create({ model: 'docsum', messages: shown(url) });
      expect(await failureOf(unread)).toEqual({ status: 400, code: 'unsupported_parameter', param });
    });

    it('is shown the image of a question to a mega service', async () => {
      await client.chat.completions.create({ model: 'chatqna', messages: shown(url) });
      const { messages } = engine.asked.at(-1) as { messages: { content: unknown[] }[] };
      const { content } = messages.at(-1)!;
      expect(content).toContainEqual({ type: 'image_url', image_url: { url, detail: 'low' } });
      expect(content).toContainEqual({ type: 'text', text: expect.stringContaining('What?') as string });
    });
  });
});
