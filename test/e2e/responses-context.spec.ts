import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postJson } from './helpers/http.js';
import {
  askerOf,
  assertValid,
  assertValidLog,
  collect,
  failureOf,
  newClient,
  problemsOf,
  responseOf,
  textOf,
} from './helpers/response-events.js';
import { ResponseSocketClient } from './helpers/response-socket.js';
import { scriptedModel as model } from './helpers/scripted-services.js';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';

type Input = OpenAI.Responses.ResponseInput;

let stack: ScriptedStack;
let client: OpenAI;
const { create, stream } = askerOf(() => client);

beforeAll(async () => {
  stack = await startScriptedStack();
  client = newClient(stack.gateway.url);
});
afterAll(() => stack?.stop());

const said = (role: 'user' | 'assistant' | 'developer', content: string) => ({ role, content });
const recalled = ({ output_text }: { output_text: string }) => JSON.parse(output_text) as string[];
/** A turn of about 30 words, of which a window of 200 holds a few. */
const turn = (number: number) => [
  said('user', `Question ${number}: ${'why '.repeat(14)}`.trim()),
  said('assistant', `Answer ${number}: ${'so '.repeat(14)}`.trim()),
];

describe('POST /v1/responses/compact', () => {
  it('loses nothing of a short conversation: its output means the same', async () => {
    const input = [said('developer', 'Be brief.'), said('user', 'slate'), said('assistant', 'OK.')] as Input;
    const compacted = await client.responses.compact({ model, input, prompt_cache_key: 'k' });
    expect(problemsOf('CompactResource', compacted)).toEqual([]);
    expect(compacted.object).toBe('response.compaction');
    expect(compacted.output.map(({ type }) => type)).toEqual(['message', 'compaction']);
    expect(JSON.stringify(compacted)).not.toContain('OK.');
    const next = await create({ input: [...compacted.output, said('user', 'recall')] as Input });
    assertValid(next);
    expect(recalled(next)).toEqual(['developer: Be brief.', 'user: slate', 'assistant: OK.', 'user: recall']);
    const withoutIds = (compacted.output as object[]).map((item) => ({ ...item, id: undefined }));
    const again = await create({ input: [...withoutIds, said('user', 'recall')] as Input });
    expect(recalled(again)).toHaveLength(4);
  });

  it('keeps the latest turns and has the model write notes on the rest, within the window', async () => {
    const turns = [1, 2, 3, 4, 5, 6].flatMap(turn);
    const compacted = await client.responses.compact({
      model,
      input: [said('developer', 'Be brief.'), ...turns] as Input,
    });
    expect(compacted.usage.output_tokens).toBeGreaterThan(0);
    const next = await create({ input: [...compacted.output, said('user', 'recall')] as Input });
    const [instruction, notes, ...rest] = recalled(next);
    expect(instruction).toBe('developer: Be brief.');
    expect(notes).toMatch(/^developer: Notes on the conversation .*written by a language model:\n./s);
    expect(rest.slice(0, -1)).toEqual([`user: ${turns[10]?.content}`, `assistant: ${turns[11]?.content}`]);
    const twice = await client.responses.compact({
      model,
      input: [...compacted.output, ...[7, 8, 9].flatMap(turn)] as Input,
    });
    const last = recalled(await create({ input: [...twice.output, said('user', 'recall')] as Input }));
    expect(last.filter((text) => text.includes('Notes on the conversation'))).toHaveLength(1);
    expect(last.filter((text) => text === 'developer: Be brief.')).toHaveLength(1);
  });

  it('goes on from a stored response, and keeps calls that wait for their output', async () => {
    const stored = await create({ input: 'cobalt' });
    const compacted = await client.responses.compact({
      model,
      previous_response_id: stored.id,
      input: [{ type: 'function_call', call_id: 'c1', name: 'add', arguments: '{"a":1}' }],
    });
    const next = await create({
      input: [...compacted.output, { type: 'function_call_output', call_id: 'c1', output: 'two' }] as Input,
    });
    expect(next.output_text).toBe('two');
  });

  it('is refused to others, when changed, and where it comes from elsewhere', async () => {
    const { output } = await client.responses.compact({ model, input: 'slate' });
    const sealed = output.find(({ type }) => type === 'compaction') as { encrypted_content: string };
    const changed = { ...sealed, encrypted_content: `${sealed.encrypted_content.slice(0, -8)}AAAAAAAA` };
    for (const item of [changed, { type: 'compaction', encrypted_content: 'gAAAAABf' }])
      expect(await failureOf(create({ input: [said('user', 'x'), item] as Input }))).toEqual({
        status: 400,
        code: 'invalid_encrypted_content',
        param: 'input[1].encrypted_content',
      });
    // Another gateway of the installation shares the key, not the owner.
    const other = await stack.startGateway({ API_KEYS: 'one' });
    const stranger = newClient(other.url, 'one');
    const attempt = stranger.responses.create({ model, input: [sealed] as unknown as Input });
    expect(await failureOf(attempt)).toMatchObject({ code: 'invalid_encrypted_content' });
    const mine = await stack.startGateway();
    const opened = await newClient(mine.url).responses.create({
      model,
      input: [sealed, said('user', 'recall')] as unknown as Input,
    });
    expect(recalled(opened)).toEqual(['user: slate', 'user: recall']);
  });

  it.each([
    ['a model', { input: 'x' }, 'model'],
    ['a known model', { model: 'gone', input: 'x' }, 'model'],
    ['something to compact', { model }, 'input'],
    ['a response that exists', { model, previous_response_id: 'resp_gone' }, 'previous_response_id'],
  ])('needs %s', async (_what, body, param) => {
    const { status, body: answer } = await postJson(`${stack.gateway.url}/v1/responses/compact`, body);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect(answer).toMatchObject({ error: { param } });
  });
});

describe('context_management', () => {
  const long = [1, 2, 3, 4, 5].flatMap(turn);

  it('compacts first where the context is longer than the threshold, and goes on from there', async () => {
    const context_management = [{ type: 'compaction', compact_threshold: 100 }];
    const events = await collect(
      await stream({ input: [...long, said('user', 'recall')] as Input, context_management }),
    );
    assertValidLog(events);
    const first = responseOf(events);
    expect(first.output.map(({ type }) => type)).toEqual(['compaction', 'message']);
    expect(recalled(first)[0]).toContain('Notes on the conversation');
    expect(recalled(first).at(-1)).toBe('user: recall');
    const next = await create({ input: 'recall', previous_response_id: first.id });
    expect(recalled(next)[0]).toContain('Notes on the conversation');
    expect(recalled(next).some((text) => text.includes('Question 1'))).toBe(
      recalled(first).some((text) => text.includes('Question 1')),
    );
    expect(recalled(next).length).toBe(recalled(first).length + 2);
  });

  it('does nothing below it, and cannot be had of a mega service', async () => {
    const context_management = [{ type: 'compaction', compact_threshold: 1_000 }];
    const response = await create({ input: 'recall', context_management });
    expect(response.output.map(({ type }) => type)).toEqual(['message']);
    const refused = create({ model: 'chatqna', input: 'x', context_management });
    expect(await failureOf(refused)).toMatchObject({ param: 'context_management' });
  });

  it('compacts on a trigger alone', async () => {
    const trigger = { type: 'compaction_trigger' };
    const response = await create({ input: [...long, trigger] as unknown as Input });
    expect(response.output.map(({ type }) => type)).toEqual(['compaction']);
    const next = await create({ input: 'recall', previous_response_id: response.id });
    expect(recalled(next)[0]).toContain('Notes on the conversation');
    const misplaced = create({ input: [trigger, said('user', 'x')] as unknown as Input });
    expect(await failureOf(misplaced)).toMatchObject({ status: 400, param: 'input[0]' });
  });
});

describe('a warm-up over a WebSocket', () => {
  it('has the model read, says nothing, and is gone on from with no new input', async () => {
    const socket = await ResponseSocketClient.open(stack.gateway.url);
    for (const store of [false, true]) {
      const started = stack.witness.started;
      const warm = await socket.turn({ model, store, generate: false, instructions: 'Hi.', input: 'recall' });
      assertValidLog(warm);
      expect(responseOf(warm)).toMatchObject({ status: 'completed', output: [], output_text: '' });
      expect(stack.witness.started).toBe(started + 1);
      const { id } = responseOf(warm);
      const next = await socket.turn({ model, store, previous_response_id: id, input: [] });
      expect(JSON.parse(textOf(next))).toEqual(['user: recall']);
    }
    socket.close();
  });
});

describe('reasoning', () => {
  it('goes out sealed where that is asked for, and is remembered when it comes back', async () => {
    const input = 'think about it: done';
    const plain = await create({ input });
    expect(plain.output[0]).toMatchObject({ type: 'reasoning' });
    expect(plain.output[0]).not.toHaveProperty('encrypted_content');
    const sealed = await create({ input, store: false, include: ['reasoning.encrypted_content'] });
    assertValid(sealed);
    const [reasoning] = sealed.output;
    if (reasoning?.type !== 'reasoning') throw new Error('No reasoning');
    expect(reasoning.encrypted_content).toMatch(/^[\w-]{40,}$/);
    const history = [said('user', input), { ...reasoning, summary: [] }, said('assistant', 'done')];
    const next = await create({ input: [...history, said('user', 'recall')] as Input });
    expect(next.status).toBe('completed');
    const foreign = [said('user', 'x'), { ...reasoning, encrypted_content: 'gAAAAAB' }];
    expect(await failureOf(create({ input: foreign }))).toEqual({
      status: 400,
      code: 'invalid_encrypted_content',
      param: 'input[1].encrypted_content',
    });
  });
});

describe('images and files', () => {
  const png = `data:image/png;base64,${Buffer.alloc(47).toString('base64')}`;
  const withPart = (part: object) =>
    [{ role: 'user', content: [{ type: 'input_text', text: 'recall' }, part] }] as Input;

  it('refuses images by name, and describes them where that is asked for', async () => {
    const image = { type: 'input_image', image_url: png };
    const refused = await failureOf(create({ input: withPart(image) }));
    expect(refused).toEqual({ status: 400, code: 'unsupported_parameter', param: 'input[0].content[1]' });
    const body = { input: withPart(image), image_input: 'describe' };
    const described = await create(body);
    expect(described.output_text).toBe('recall\n[image: image/png, 47 bytes]');
  });

  it('reads text files, and refuses addresses inside the network', async () => {
    const text = { type: 'input_file', filename: 'a.txt', file_data: Buffer.from('grüß').toString('base64') };
    expect((await create({ input: withPart(text) })).output_text).toBe('recall\na.txt:\ngrüß');
    const inside = { type: 'input_file', file_url: `${stack.gateway.url}/live` };
    expect(await failureOf(create({ input: withPart(inside) }))).toEqual({
      status: 400,
      code: 'forbidden_url',
      param: 'input[0].content[1].file_url',
    });
    const form = new FormData();
    form.append('purpose', 'user_data');
    form.append('file', new File(['stored words'], 'b.txt', { type: 'text/plain' }));
    const uploaded = await fetch(`${stack.gateway.url}/v1/files`, { method: 'POST', body: form });
    const { id } = (await uploaded.json()) as { id: string };
    const stored = await create({ input: withPart({ type: 'input_file', file_id: id }) });
    expect(stored.output_text).toBe('recall\nb.txt:\nstored words');
    const gone = create({ input: withPart({ type: 'input_file', file_id: 'file-gone' }) });
    expect(await failureOf(gone)).toMatchObject({ status: 404, param: 'input[0].content[1].file_id' });
  });
});
