import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createTemporaryDirectory,
  repositoryRoot,
  startNats,
  startService,
  startStack,
  type TestStack,
} from '#platform/testing';
import { decodeAudio } from '#engine/speech';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendLive } from '../support/live-audio.js';
import { writeSpeechModel } from '../support/speech-model.js';
import { ingestText } from './helpers/ingest.js';

/** Length of an audio file. */
async function secondsOf(file: Buffer): Promise<number> {
  const samples = await decodeAudio(file, { sampleRate: 16_000, maxSeconds: 60 });
  return samples.length / 16_000;
}

const asked = 'which port does the gateway listen on';
const question = readFileSync(join(repositoryRoot, 'test/fixtures/asr/question.wav'));

describe('spoken questions', () => {
  let directory: Awaited<ReturnType<typeof createTemporaryDirectory>>;
  let stack: TestStack;
  let gateway: string;
  let openai: OpenAI;

  beforeAll(async () => {
    directory = await createTemporaryDirectory();
    // Hears the same words in any speech, so that what follows does not hang on how well a model hears.
    const model = join(directory.path, 'one-question');
    await writeSpeechModel(model, asked);
    stack = await startStack({ env: { ASR_MODEL_ID: model } });
    gateway = stack.service('gateway').url;
    openai = new OpenAI({ baseURL: `${gateway}/v1`, apiKey: 'none', maxRetries: 0 });
    await ingestText(gateway, 'ports.md', 'The gateway listens on port 42. The kettle stands on the shelf.');
  });

  afterAll(async () => {
    await stack?.stop();
    await directory?.remove();
  });

  const post = (path: string, body: object) =>
    fetch(`${gateway}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  it('are answered by audioqna with citations, from base64 and from a form', async () => {
    const spoken = await post('/v1/audioqna', { audio: question.toString('base64'), stream: false });
    const form = new FormData();
    form.set('files', new Blob([question]), 'question.wav');
    form.set('stream', 'false');
    const sent = await fetch(`${gateway}/v1/audioqna`, { method: 'POST', body: form });
    for (const response of [spoken, sent]) {
      const { choices } = (await response.json()) as OpenAI.ChatCompletion;
      expect(choices[0]?.message.content).toMatch(/42.*\[1\]/);
      expect(choices[0]?.message.annotations).toHaveLength(1);
    }
  });

  it('are streamed where that is asked for, in the frames of OPEA', async () => {
    const response = await post('/v1/audioqna', { audio: question.toString('base64'), stream: true });
    expect(await response.text()).toMatch(/^data: b'.*42/s);
  });

  it('are answered aloud in the form of the reference: a WAV file in base64', async () => {
    const body = { audio: question.toString('base64'), max_tokens: 64, voice: 'default' };
    const response = await post('/v1/audioqna', body);
    expect(response.headers.get('content-type')).toContain('application/json');
    const spoken = Buffer.from((await response.json()) as string, 'base64');
    expect(spoken.subarray(0, 4).toString()).toBe('RIFF');
    // The model of this stack hears one question in everything; another one hears the answer.
    const nats = await startNats();
    const ear = await startService('asr', { NATS_URL: nats.url });
    const heard = await new OpenAI({ baseURL: `${ear.url}/v1`, apiKey: 'none' }).audio.transcriptions.create({
      file: await toFile(spoken, 'answer.wav'),
      model: 'nano-asr',
    });
    await ear.stop();
    await nats.stop();
    expect(heard.text).toMatch(/forty two/i);
  });

  it('get citations beside the speech where a completion is asked for', async () => {
    const body = { audio: question.toString('base64'), stream: false, modalities: ['text', 'audio'] };
    const { choices } = (await (await post('/v1/audioqna', body)).json()) as OpenAI.ChatCompletion;
    const { content, audio, annotations } = choices[0]!.message;
    expect(content).toBeNull();
    expect(audio!.transcript).toMatch(/42.*\[1\]/);
    expect(annotations).toHaveLength(1);
    expect(await secondsOf(Buffer.from(audio!.data, 'base64'))).toBeGreaterThan(1);
    const voice = await post('/v1/audioqna', { ...body, voice: 'nobody' });
    expect({ status: voice.status, body: await voice.json() }).toMatchObject({
      status: 400,
      body: { error: { param: 'voice' } },
    });
  });

  it.each(['wav', 'mp3', 'flac', 'opus', 'pcm16'] as const)(
    'are answered by a chat in %s',
    async (format) => {
      const { choices } = await openai.chat.completions.create({
        model: 'chatqna',
        messages: [{ role: 'user', content: 'Which port does the gateway listen on?' }],
        modalities: ['text', 'audio'],
        audio: { voice: 'alloy', format },
      });
      const { audio, content } = choices[0]!.message;
      expect(content).toBeNull();
      expect(audio!.transcript).toContain('42');
      const bytes = Buffer.from(audio!.data, 'base64');
      const seconds = format === 'pcm16' ? bytes.length / 48_000 : await secondsOf(bytes);
      expect(seconds).toBeGreaterThan(1);
    },
  );

  it('are spoken while they are streamed', async () => {
    const stream = await openai.chat.completions.create({
      model: 'chatqna',
      messages: [{ role: 'user', content: 'Which port does the gateway listen on?' }],
      modalities: ['text', 'audio'],
      audio: { voice: 'alloy', format: 'pcm16' },
      stream: true,
    });
    type Delta = { audio?: { id: string; data?: string; transcript?: string; expires_at?: number } };
    const pieces: NonNullable<Delta['audio']>[] = [];
    let ending: string | null | undefined;
    for await (const { choices } of stream) {
      const [choice] = choices;
      if (!choice) continue;
      ending = choice.finish_reason;
      expect(choice.delta.content ?? '').toBe('');
      const { audio } = choice.delta as Delta;
      if (audio) pieces.push(audio);
    }
    expect(ending).toBe('stop');
    expect(pieces.map(({ transcript = '' }) => transcript).join('')).toContain('42');
    expect(new Set(pieces.map(({ id }) => id)).size).toBe(1);
    const pcm = Buffer.concat(pieces.map(({ data = '' }) => Buffer.from(data, 'base64')));
    expect(pcm.length).toBeGreaterThan(48_000);
    expect(pieces.at(-1)?.expires_at).toBeGreaterThan(0);
  });

  it('are refused with the field where they ask for what is not there', async () => {
    const ask = (body: object) =>
      post('/v1/chat/completions', {
        messages: [{ role: 'user', content: 'Which port?' }],
        modalities: ['text', 'audio'],
        ...body,
      });
    const wav = { voice: 'alloy', format: 'wav' };
    const cases: [object, string][] = [
      [{}, 'audio'],
      [{ audio: { voice: 'alloy', format: 'aac' } }, 'audio.format'],
      [{ audio: { format: 'wav' } }, 'audio.voice'],
      [{ audio: wav, stream: true }, 'audio.format'],
      [{ audio: wav, n: 2 }, 'n'],
      [{ audio: wav, modalities: ['text'] }, 'audio'],
      [{ audio: wav, modalities: ['audio'] }, 'modalities'],
      [{ audio: wav, modalities: ['text', 'image'] }, 'modalities.1'],
    ];
    for (const [body, param] of cases) {
      const response = await ask(body);
      const { error } = (await response.json()) as { error: { param: string } };
      expect([response.status, error.param]).toEqual([400, param]);
    }
  });

  it('refuses what is no audio, and silence', async () => {
    const text = await post('/v1/audioqna', { audio: Buffer.from('text').toString('base64') });
    expect({ status: text.status, body: await text.json() }).toMatchObject({
      status: 400,
      body: { error: { code: 'unsupported_file' } },
    });
    const silence = Buffer.concat([question.subarray(0, 44), Buffer.alloc(question.length - 44)]);
    const quiet = await post('/v1/audioqna', { audio: silence.toString('base64') });
    expect({ status: quiet.status, body: await quiet.json() }).toMatchObject({
      status: 400,
      body: { error: { param: 'audio', message: expect.stringContaining('no speech') as string } },
    });
  });

  it('come as input_audio parts of chat completions', async () => {
    const ask = (data: string) =>
      openai.chat.completions.create({
        model: 'chatqna',
        messages: [
          { role: 'user', content: [{ type: 'input_audio', input_audio: { data, format: 'wav' } }] },
        ],
      });
    const answer = await ask(question.toString('base64'));
    expect(answer.choices[0]?.message.content).toMatch(/42/);
    await expect(ask('***')).rejects.toMatchObject({
      status: 400,
      param: 'messages[0].content[0].input_audio.data',
    });
  });

  it("are written down by the gateway's audio API", async () => {
    const file = await toFile(question, 'question.wav');
    const answer = await openai.audio.transcriptions.create({ file, model: 'one-question' });
    expect(answer.text).toBe(asked);
    const stream = await openai.audio.transcriptions.create({ file, model: 'one-question', stream: true });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    expect(types).toEqual(['transcript.text.delta', 'transcript.text.done']);
    const legacy = await post('/v1/asr', { audio: question.toString('base64') });
    expect(await legacy.json()).toEqual({ text: asked, asr_result: asked });
  });

  it('are written down while they are said', async () => {
    const events = await sendLive(gateway, question, 16_000);
    expect(events.map(({ type }) => type)).toContain('conversation.item.input_audio_transcription.delta');
    expect(events.at(-1)).toMatchObject({ transcript: asked, usage: { type: 'duration' } });
  });
});
