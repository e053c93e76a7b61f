import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transcribe, type TranscriptChunk } from '#platform/contracts';
import { MessagingConnection, ObjectStore, RpcClient } from '#platform/messaging';
import {
  createTemporaryDirectory,
  repositoryRoot,
  startNats,
  startService,
  type TestNats,
  type TestService,
} from '#platform/testing';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeSpeechModel } from '../../support/speech-model.js';

const said = 'which port';
const question = readFileSync(join(repositoryRoot, 'test/fixtures/asr/question.wav'));
const seconds = 2.85;

/** A WAV file of the question again and again, with pauses of half a second. */
function longRecording(length: number): Buffer {
  const head = Buffer.from(question.subarray(0, 44));
  const samples = Buffer.concat([question.subarray(44), Buffer.alloc(16_000)]);
  const data = Buffer.concat(Array<Buffer>(Math.ceil((length * 32_000) / samples.length)).fill(samples));
  head.writeUInt32LE(36 + data.length, 4);
  head.writeUInt32LE(data.length, 40);
  return Buffer.concat([head, data]);
}

describe('the asr service', () => {
  let directory: Awaited<ReturnType<typeof createTemporaryDirectory>>;
  let nats: TestNats;
  let service: TestService;
  let openai: OpenAI;

  beforeAll(async () => {
    directory = await createTemporaryDirectory();
    const model = join(directory.path, 'one-text');
    await writeSpeechModel(model, said);
    nats = await startNats();
    service = await startService('asr', {
      NATS_URL: nats.url,
      ASR_MODEL_ID: model,
      ASR_MAX_SECONDS: '400',
      AUDIO_LIMIT_BYTES: '16000000',
      MEGANEST_DATA_DIR: directory.path,
    });
    openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'none', maxRetries: 0 });
  });

  afterAll(async () => {
    await service?.stop();
    await nats?.stop();
    await directory?.remove();
  });

  const file = () => toFile(question, 'question.wav');
  const post = async (path: string, body: unknown) => {
    const response = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };

  describe("through OpenAI's client", () => {
    it('answers json, with logprobs where they are asked for', async () => {
      const plain = await openai.audio.transcriptions.create({ file: await file(), model: 'one-text' });
      expect(plain).toEqual({ text: said, usage: { type: 'duration', seconds: Math.ceil(seconds) } });
      const detailed = await openai.audio.transcriptions.create({
        file: await file(),
        model: 'one-text',
        response_format: 'json',
        include: ['logprobs'],
      });
      expect(detailed.logprobs).toHaveLength(1);
      expect(detailed.logprobs?.[0]).toMatchObject({ token: said, bytes: [...Buffer.from(said)] });
      expect(detailed.logprobs?.[0]?.logprob).toBeCloseTo(-Math.log(1 + Math.exp(-4)), 4);
    });

    it('answers text, srt and vtt', async () => {
      const create = async (response_format: 'text' | 'srt' | 'vtt') =>
        openai.audio.transcriptions.create({ file: await file(), model: 'one-text', response_format });
      expect(await create('text')).toBe(`${said}\n`);
      expect(await create('srt')).toMatch(/^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\nwhich port\n\n$/);
      expect(await create('vtt')).toMatch(
        /^WEBVTT\n\n00:00:0\d\.\d{3} --> 00:00:0\d\.\d{3}\nwhich port\n\n$/,
      );
    });

    it('answers verbose_json with segments and words', async () => {
      const answer = await openai.audio.transcriptions.create({
        file: await file(),
        model: 'one-text',
        language: 'en',
        response_format: 'verbose_json',
        timestamp_granularities: ['word', 'segment'],
      });
      expect(answer).toMatchObject({ task: 'transcribe', language: 'english', text: said });
      expect(answer.duration).toBeCloseTo(seconds, 1);
      const [segment] = answer.segments ?? [];
      expect(segment).toMatchObject({ id: 0, text: said, tokens: [1] });
      expect(answer.words).toEqual([{ word: said, start: segment?.start, end: segment?.end }]);
    });

    it('streams a delta for each segment', async () => {
      const stream = await openai.audio.transcriptions.create({
        file: await toFile(longRecording(20), 'long.wav'),
        model: 'one-text',
        stream: true,
      });
      let deltas = '';
      let done = '';
      for await (const event of stream) {
        if (event.type === 'transcript.text.delta') deltas += event.delta;
        if (event.type === 'transcript.text.done') done = event.text;
      }
      expect(deltas).toBe(done);
      expect(done.split(said).length).toBeGreaterThan(2);
    });

    it('answers a request for another model, and says so', async () => {
      const call = openai.audio.transcriptions.create({ file: await file(), model: 'whisper-1' });
      const { data, response } = await call.withResponse();
      expect(data.text).toBe(said);
      expect(response.headers.get('x-meganest-ignored')).toBe('model');
    });

    it.each<[string, object, string]>([
      ['a language that the model has not', { language: 'de' }, 'language'],
      ['a temperature beyond 1', { temperature: 2 }, 'temperature'],
      ['words outside verbose_json', { timestamp_granularities: ['word'] }, 'timestamp_granularities'],
      ['logprobs outside json', { include: ['logprobs'], response_format: 'text' }, 'include'],
      ['a streamed srt', { stream: true, response_format: 'srt' }, 'stream'],
    ])('refuses %s', async (_what, overrides, param) => {
      const call = openai.audio.transcriptions.create({
        file: await file(),
        model: 'one-text',
        ...overrides,
      } as never);
      await expect(call).rejects.toMatchObject({ param });
    });

    it('says what it had no use for', async () => {
      const { response } = await openai.audio.transcriptions
        .create({ file: await file(), model: 'one-text', prompt: 'ports', temperature: 0.5 })
        .withResponse();
      expect(response.headers.get('x-meganest-ignored')).toBe('prompt, temperature');
    });

    it('cannot translate', async () => {
      const call = openai.audio.translations.create({ file: await file(), model: 'one-text' });
      await expect(call).rejects.toMatchObject({ status: 400, message: /cannot translate/ });
    });

    it.each<[string, Buffer | string, number]>([
      ['no audio', 'hello', 400],
      ['an empty file', '', 400],
      ['audio that is too long', longRecording(401), 413],
      ['a file that is too large', longRecording(520), 413],
    ])('refuses %s', async (_what, bytes, status) => {
      const call = openai.audio.transcriptions.create({
        file: await toFile(Buffer.from(bytes), 'x.wav'),
        model: 'one-text',
      });
      await expect(call).rejects.toMatchObject({ status, param: 'file' });
    });
  });

  describe("in OPEA's forms", () => {
    it('takes base64, and answers as the reference does', async () => {
      const { status, body } = await post('/v1/asr', { audio: question.toString('base64') });
      expect({ status, body }).toEqual({ status: 200, body: { text: said, asr_result: said } });
    });

    it('takes a data: URL', async () => {
      const url = `data:audio/wav;base64,${question.toString('base64')}`;
      expect(await post('/v1/asr', { url })).toMatchObject({ status: 200, body: { text: said } });
      expect(await post('/v1/asr', { url: 'data:audio/wav;base64,***' })).toMatchObject({
        status: 400,
        body: { error: { param: 'url' } },
      });
    });

    it('takes a multipart form', async () => {
      const form = new FormData();
      form.set('file', new Blob([question]), 'question.wav');
      form.set('Language', 'auto');
      form.set('model_name_or_path', 'openai/whisper-small');
      const response = await fetch(`${service.url}/v1/asr`, { method: 'POST', body: form });
      expect(await response.json()).toEqual({ text: said });
      expect(response.headers.get('x-meganest-ignored')).toBe('model_name_or_path');
    });

    it.each<[string, object, string, string]>([
      ['a private URL', { url: 'http://127.0.0.1:1/a.wav' }, 'forbidden_url', 'url'],
      ['what is no URL', { url: 'a.wav' }, 'forbidden_url', 'url'],
      ['neither', {}, 'invalid_request', 'url'],
      ['both', { url: 'http://example.com/a.wav', audio: 'AAAA' }, 'invalid_request', 'url'],
      ['what is no base64', { audio: '***' }, 'invalid_request', 'audio'],
    ])('refuses %s', async (_what, body, code, param) => {
      expect(await post('/v1/asr', body)).toMatchObject({ status: 400, body: { error: { code, param } } });
    });
  });

  it('fetches a URL where private ones are allowed', async () => {
    const { createServer } = await import('node:http');
    const server = createServer((_request, response) => response.end(question)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const open = await startService('asr', {
      NATS_URL: nats.url,
      ASR_MODEL_ID: join(directory.path, 'one-text'),
      MEGANEST_DATA_DIR: directory.path,
      ALLOW_PRIVATE_LINKS: 'true',
    });
    try {
      const response = await fetch(`${open.url}/v1/asr`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          url: `http://127.0.0.1:${port}/speech.wav`,
          model_name_or_path: 'one-text',
          Language: 'en',
        }),
      });
      expect(await response.json()).toEqual({ text: said });
    } finally {
      await open.stop();
      server.close();
    }
  });

  describe('over NATS', () => {
    let connection: MessagingConnection;
    let client: RpcClient;
    beforeAll(async () => {
      connection = await MessagingConnection.open({ url: nats.url, name: 'test' });
      client = new RpcClient(connection);
    });
    afterAll(async () => {
      client?.close();
      await connection?.close();
    });

    it('reads three minutes by reference: times rise, memory stays low', async () => {
      const store = new ObjectStore(connection);
      const reference = await store.put(longRecording(180), { filename: 'long.wav', mimeType: 'audio/wav' });
      const idle = residentMegabytes(service);
      let most = idle;
      const chunks: TranscriptChunk[] = [];
      for await (const chunk of client.stream(transcribe, { file: reference, details: true })) {
        chunks.push(chunk);
        most = Math.max(most, residentMegabytes(service));
      }
      const segments = chunks.flatMap(({ segment }) => (segment ? [segment] : []));
      expect(chunks[0]?.audio?.seconds).toBeGreaterThan(180);
      expect(segments.length).toBeGreaterThan(10);
      const times = segments.flatMap(({ start, end }) => [start, end]);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(chunks.at(-1)?.done).toBeGreaterThan(178);
      expect(most - idle).toBeLessThan(300);
    });

    it('stops when its caller leaves', async () => {
      const store = new ObjectStore(connection);
      const reference = await store.put(longRecording(180), { filename: 'long.wav', mimeType: 'audio/wav' });
      for await (const { segment } of client.stream(transcribe, { file: reference })) if (segment) break;
      await expect
        .poll(async () => await (await fetch(`${service.url}/metrics`)).text())
        .toMatch(/operation="transcribe",outcome="(cancelled|error)"/);
    });
  });
});

function residentMegabytes({ process: { pid } }: TestService): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}
