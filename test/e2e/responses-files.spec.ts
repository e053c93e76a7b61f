import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isCluster, startService, type TestService } from '#platform/testing';
import type OpenAI from 'openai';
import { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDocx, paragraph, table } from '../fixtures/dataprep/make-docx.js';
import { lines, makePdf } from '../fixtures/dataprep/make-pdf.js';
import { makeZip } from '../fixtures/dataprep/make-zip.js';
import {
  askerOf,
  assertValid,
  assertValidLog,
  collect,
  failureOf,
  newClient,
  problemsOf,
  responseOf,
  type Response,
} from './helpers/response-events.js';
import { scriptedModel as model } from './helpers/scripted-services.js';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';

type Input = OpenAI.Responses.ResponseInput;
type FilePart = Omit<OpenAI.Responses.ResponseInputFile, 'type'>;

const fileLimit = 600_000;
const docxType = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

let stack: ScriptedStack;
let dataprep: TestService;
let server: Server;
let client: OpenAI;
const { create, stream } = askerOf(() => client);

/** A PDF of two pages; the compliance suite of Open Responses sends one as a data URL. */
const pdf = makePdf([lines(['The zorp hums at dawn.']), lines(['It rests at noon.'])]);
const pdfText = ['The zorp hums at dawn.', 'It rests at noon.'].join('\n\n');
const docx = makeDocx([paragraph('Rules', 'Heading1'), paragraph('No zorps.'), table([['Name', 'Legs']])]);

beforeAll(async () => {
  stack = await startScriptedStack({ UPLOAD_FILE_LIMIT_BYTES: String(fileLimit) });
  client = newClient(stack.gateway.url);
  server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/pdf').end(pdf);
  });
  server.listen(0, '127.0.0.1');
  [dataprep] = await Promise.all([
    startService('dataprep', {
      NATS_URL: stack.nats.url,
      DATABASE_URL: stack.postgres.connectionString,
    }),
    once(server, 'listening'),
  ]);
});
afterAll(async () => {
  server?.close();
  await dataprep?.stop();
  await stack?.stop();
});

const upload = async (name: string, text: string) =>
  client.files.create({ file: await toFile(Buffer.from(text), name), purpose: 'user_data' });

/** A body as it was sent: the client leaves fields out of what it types, and adds others. */
const bodyOf = async (path: string): Promise<unknown> =>
  (await fetch(`${stack.gateway.url}/v1${path}`)).json();

const base64 = (content: string | Uint8Array) => Buffer.from(content).toString('base64');
const dataUrl = (content: string | Uint8Array, type: string) => `data:${type};base64,${base64(content)}`;
const localUrl = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/reports/zorp%20one.pdf`;
const message = (...parts: FilePart[]) => ({
  role: 'user',
  content: [{ type: 'input_text', text: 'Read.' }, ...parts.map((part) => ({ type: 'input_file', ...part }))],
});
const recall = { role: 'user', content: 'recall' };
const asking = (...parts: FilePart[]) => [message(...parts), recall] as Input;

/** What the model was told, one text for each message. */
const told = ({ output_text }: Pick<Response, 'output_text'>) => JSON.parse(output_text) as string[];

async function readBy(asked: OpenAI, ...parts: FilePart[]): Promise<string | undefined> {
  const response = await asked.responses.create({ model, input: asking(...parts) });
  assertValid(response);
  expect(response.status).toBe('completed');
  const [first, ...others] = told(response);
  expect(others).toEqual(['user: recall']);
  return first;
}
const read = (...parts: FilePart[]) => readBy(client, ...parts);

describe('stored files', () => {
  it('are kept byte by byte, listed, and deleted', async () => {
    const content = Buffer.alloc(700_000, 'abcdefg');
    const file = await client.files.create({
      file: await toFile(content, 'large ünit.txt', { type: 'text/plain' }),
      purpose: 'assistants',
      expires_after: { anchor: 'created_at', seconds: 3_600 },
    });
    expect(file).toMatchObject({ bytes: 700_000, filename: 'large ünit.txt', purpose: 'assistants' });
    expect(file.expires_at).toBe(file.created_at + 3_600);
    expect(await client.files.retrieve(file.id)).toEqual(file);
    const answer = await client.files.content(file.id);
    expect(Buffer.compare(Buffer.from(await answer.arrayBuffer()), content)).toBe(0);
    const others = [await upload('a.txt', 'a'), await upload('b.txt', 'b')];
    const listed: string[] = [];
    for await (const { id } of client.files.list({ limit: 2, order: 'asc' })) listed.push(id);
    expect(listed).toEqual([file, ...others].map(({ id }) => id));
    expect((await client.files.list({ purpose: 'assistants' })).data.map(({ id }) => id)).toEqual([file.id]);
    expect(problemsOf('OpenAIFile', await bodyOf(`/files/${file.id}`))).toEqual([]);
    expect(problemsOf('ListFilesResponse', await bodyOf('/files'))).toEqual([]);
    for (const id of listed)
      expect(await client.files.delete(id)).toEqual({ id, object: 'file', deleted: true });
    expect(await failureOf(client.files.retrieve(file.id))).toMatchObject({ status: 404 });
    expect((await client.files.list()).data).toEqual([]);
  });

  it('are refused with the field that is wrong, and nothing of them stays', async () => {
    const file = await toFile(Buffer.from('a'), 'a.txt');
    expect(await failureOf(client.files.create({ file, purpose: 'nothing' as 'batch' }))).toMatchObject({
      status: 400,
      param: 'purpose',
    });
    expect((await client.files.list()).data).toEqual([]);
    expect(await failureOf(client.files.retrieve('file-unknown'))).toMatchObject({ status: 404 });
    expect(await failureOf(client.files.list({ after: 'file-unknown' }).asResponse())).toMatchObject({
      param: 'after',
    });
  });

  it('can be sent in parts', async () => {
    const upload = await client.uploads.create({
      filename: 'parts.txt',
      purpose: 'assistants',
      bytes: 400_003,
      mime_type: 'text/plain',
    });
    const [one, two] = [Buffer.alloc(300_000, '1'), Buffer.alloc(100_003, '2')];
    const second = await client.uploads.parts.create(upload.id, { data: await toFile(two, 'two') });
    const first = await client.uploads.parts.create(upload.id, { data: await toFile(one, 'one') });
    expect(problemsOf('UploadPart', first)).toEqual([]);
    const wrong = client.uploads.complete(upload.id, { part_ids: [first.id] });
    expect(await failureOf(wrong)).toMatchObject({ status: 400, param: 'part_ids' });
    const done = await client.uploads.complete(upload.id, { part_ids: [first.id, second.id] });
    expect(problemsOf('Upload', done)).toEqual([]);
    const content = await client.files.content(done.file?.id ?? '');
    expect(Buffer.compare(Buffer.from(await content.arrayBuffer()), Buffer.concat([one, two]))).toBe(0);
    expect(await failureOf(client.uploads.cancel(upload.id))).toMatchObject({ status: 409 });
    await client.files.delete(done.file?.id ?? '');
  });
});

describe('files of a chat completion', () => {
  const ask = async (file: object, asked = client) => {
    const content = [
      { type: 'text', text: 'Read.' },
      { type: 'file', file },
      { type: 'text', text: 'Now.' },
    ];
    const messages = [{ role: 'user', content }, recall] as OpenAI.Chat.ChatCompletionMessageParam[];
    const { choices } = await asked.chat.completions.create({ model, messages });
    return (JSON.parse(choices[0]?.message.content ?? '') as string[])[0];
  };

  it('are read where they stand, from the request and from the store', async () => {
    const expected = `user: Read.\nzorp.pdf:\n${pdfText}\nNow.`;
    expect(await ask({ filename: 'zorp.pdf', file_data: dataUrl(pdf, 'application/pdf') })).toBe(expected);
    const stored = await client.files.create({
      file: await toFile(Buffer.from(pdf), 'zorp.pdf'),
      purpose: 'user_data',
    });
    expect(await ask({ file_id: stored.id })).toBe(expected);
    await client.files.delete(stored.id);
    const param = 'messages[0].content[1].file.file_id';
    expect(await failureOf(ask({ file_id: stored.id }))).toMatchObject({ status: 404, param });
  });

  it.each([
    [{}, ''],
    ['zorp.pdf', ''],
    [{ file_data: 'no base64!' }, '.file_data'],
    [{ file_data: dataUrl('%PDF-broken', 'application/pdf') }, ''],
  ])('are refused with the path of the part: %o', async (file, field) => {
    expect(await failureOf(ask(file as object))).toMatchObject({
      status: 400,
      param: `messages[0].content[1].file${field}`,
    });
  });
});

describe('files of a request', () => {
  it('reads a PDF in a data URL, named or not', async () => {
    const file_data = dataUrl(pdf, 'application/pdf');
    expect(await read({ filename: 'zorp.pdf', file_data })).toBe(`user: Read.\nzorp.pdf:\n${pdfText}`);
    expect(await read({ file_data })).toBe(`user: Read.\nfile:\n${pdfText}`);
    expect(await read({ file_data: base64(pdf) })).toBe(`user: Read.\nfile:\n${pdfText}`);
    expect(await read({ filename: '', file_data })).toBe(`user: Read.\nfile:\n${pdfText}`);
  });

  it('reads several files of several kinds in the order they came', async () => {
    const parts = [
      { filename: 'rules.docx', file_data: dataUrl(docx, docxType) },
      { filename: 'note.txt', file_data: dataUrl('grüß', 'text/plain;charset=utf-8') },
      { filename: 'page.html', file_data: dataUrl('<h1>Zorps</h1><ul><li>hum</ul>', 'text/html') },
      { filename: 'zorp.pdf', file_data: dataUrl(pdf, 'application/pdf') },
    ];
    const [rules, note, page, zorp] = (await read(...parts))?.split(/^(?=\S+\.\w+:$)/m).slice(1) ?? [];
    expect(rules?.split(/\s+/).slice(0, 4)).toEqual(['rules.docx:', 'Rules', 'No', 'zorps.']);
    expect(rules).toMatch(/Name.*Legs/);
    expect([note, page, zorp]).toEqual([
      'note.txt:\ngrüß\n',
      'page.html:\nZorps\n\n- hum\n',
      `zorp.pdf:\n${pdfText}`,
    ]);
  });

  it('streams an answer about a PDF, and counts the words of the file', async () => {
    const input = asking({ filename: 'zorp.pdf', file_data: dataUrl(pdf, 'application/pdf') });
    const events = await collect(await stream({ input }));
    assertValidLog(events);
    expect(responseOf(events).output_text).toContain('It rests at noon.');
    const counted = await client.responses.inputTokens.count({ model, input });
    expect(counted.input_tokens).toBe(`Read. zorp.pdf: ${pdfText} recall`.split(/\s+/).length);
  });

  it("reads a file in a tool's output", async () => {
    const output = [{ type: 'input_file', filename: 'zorp.pdf', file_data: base64(pdf) }];
    const call = { type: 'function_call', call_id: 'c', name: 'open', arguments: '{}' };
    const response = await create({
      input: [call, { type: 'function_call_output', call_id: 'c', output }] as Input,
    });
    assertValid(response);
    expect(response.output_text).toBe(`zorp.pdf:\n${pdfText}`);
  });

  it('lists the file as it came, and tells the model of it again in the next turn', async () => {
    const file_data = dataUrl(pdf, 'application/pdf');
    const first = await create({ input: [message({ filename: 'zorp.pdf', file_data })] as Input });
    const listed = await client.responses.inputItems.list(first.id);
    expect(listed.data[0]).toMatchObject({ content: [{}, { type: 'input_file', file_data }] });
    const raw = await fetch(`${stack.gateway.url}/v1/responses/${first.id}/input_items`);
    expect(problemsOf('ResponseItemList', await raw.json())).toEqual([]);
    const next = await create({ previous_response_id: first.id, input: 'recall' });
    assertValid(next);
    expect(told(next)[0]).toBe(`user: Read.\nzorp.pdf:\n${pdfText}`);
  });
});

describe('compaction', () => {
  it('keeps what a file says', async () => {
    const file_data = dataUrl(pdf, 'application/pdf');
    const input = [message({ filename: 'zorp.pdf', file_data })] as Input;
    const { output } = await client.responses.compact({ model, input });
    const next = await create({ input: [...output, recall] as Input });
    expect(next.output_text).toContain('It rests at noon.');
  });
});

describe('references to files', () => {
  it('reads a stored PDF, until it is deleted', async () => {
    const file = await toFile(pdf, 'stored.pdf', { type: 'application/pdf' });
    const { id: file_id } = await client.files.create({ file, purpose: 'user_data' });
    expect(await read({ file_id })).toBe(`user: Read.\nstored.pdf:\n${pdfText}`);
    await client.files.delete(file_id);
    const gone = { status: 404, code: 'not_found', param: 'input[0].content[1].file_id' };
    expect(await failureOf(read({ file_id }))).toEqual(gone);
    expect(await failureOf(read({ file_id: 'file-unknown' }))).toEqual(gone);
  });

  it('reads URLs inside the network only where that is allowed', async () => {
    expect(await failureOf(read({ file_url: localUrl() }))).toEqual({
      status: 400,
      code: 'forbidden_url',
      param: 'input[0].content[1].file_url',
    });
    const trusting = await stack.startGateway({ ALLOW_PRIVATE_LINKS: 'true' });
    const text = await readBy(newClient(trusting.url), { file_url: localUrl() });
    expect(text).toBe(`user: Read.\nzorp one.pdf:\n${pdfText}`);
  });
});

describe('files that cannot be read', () => {
  const refusalOf = (...parts: FilePart[]) =>
    failureOf(read({ filename: 'a.txt', file_data: 'YQ==' }, ...parts));
  const part = 'input[0].content[2]';

  it.each([
    ['a broken PDF', { filename: 'a.pdf', file_data: base64('%PDF-1.4 broken') }],
    ['a PDF in name only', { filename: 'a.pdf', file_data: dataUrl('words', 'application/pdf') }],
    ['a broken DOCX', { filename: 'a.docx', file_data: base64(docx.subarray(0, docx.length / 2)) }],
    [
      'half a zip archive',
      { filename: 'a.zip', file_data: dataUrl(makeZip({ a: 'a' }).subarray(0, 40), 'application/zip') },
    ],
    ['an image', { filename: 'a.png', file_data: dataUrl(Buffer.from('\x89PNG', 'latin1'), 'image/png') }],
    ['no content at all', { filename: 'a.pdf', file_data: dataUrl('', 'application/pdf') }],
  ])('refuses %s', async (_what, file) => {
    expect(await refusalOf(file)).toEqual({ status: 400, code: 'unsupported_file', param: part });
  });

  it('refuses what names no file, and what is no base64', async () => {
    expect(await refusalOf({})).toEqual({ status: 400, code: 'invalid_request', param: part });
    const invalid = { status: 400, code: 'invalid_request', param: `${part}.file_data` };
    expect(await refusalOf({ file_data: 'data:text/plain,words' })).toEqual(invalid);
    expect(await refusalOf({ file_data: `${' '.repeat(1_000_000)}!` })).toEqual(invalid);
  });

  it('refuses files and texts beyond the limits', async () => {
    const tooLarge = { status: 413, code: 'payload_too_large' };
    const bytes = Buffer.alloc(fileLimit + 1, 'a');
    const given = await refusalOf({ filename: 'a.pdf', file_data: base64(bytes) });
    expect(given).toEqual({ ...tooLarge, param: `${part}.file_data` });
    const file = await toFile(bytes, 'a.txt', { type: 'text/plain' });
    const { id: file_id } = await client.files.create({ file, purpose: 'user_data' });
    expect(await refusalOf({ file_id })).toEqual({ ...tooLarge, param: `${part}.file_id` });
    const wordy = makeDocx([paragraph('word '.repeat(100_000))]);
    expect(await refusalOf({ filename: 'a.docx', file_data: base64(wordy) })).toEqual({
      ...tooLarge,
      param: part,
    });
  });

  // What was read is in the memory of one gateway; the other one of a cluster would have to read it.
  it.skipIf(isCluster)('keeps what it has read, and says so where nobody can read another', async () => {
    const known = { filename: 'known.pdf', file_data: base64(pdf) };
    const text = await read(known);
    await dataprep.stop();
    expect(await read(known)).toBe(text);
    const unread = await failureOf(read({ ...known, filename: 'unread.pdf' }));
    expect(unread).toMatchObject({ status: 503, code: 'service_unavailable' });
  });
});
