import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryDirectory, repositoryRoot, startStack, type TestStack } from '#testing';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendLive } from '../support/live-audio.js';
import { writeSpeechModel } from '../support/speech-model.js';
import { ingestText } from './helpers/ingest.js';

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
    await ingestText(
      gateway,
      'ports.md',
      'The gateway listens on port 8888. The kettle stands on the shelf.',
    );
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
      expect(choices[0]?.message.content).toMatch(/8888.*\[1\]/);
      expect(choices[0]?.message.annotations).toHaveLength(1);
    }
  });

  it('stream by default, in the frames of OPEA', async () => {
    const response = await post('/v1/audioqna', { audio: question.toString('base64') });
    expect(await response.text()).toMatch(/^data: b'.*8888/s);
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
    expect(answer.choices[0]?.message.content).toMatch(/8888/);
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
