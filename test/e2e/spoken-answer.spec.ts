import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeAudio } from '#engine/speech';
import { startStack, type TestStack } from '#platform/testing';
import { ingestText } from './helpers/ingest.js';

/** The bundled voice and the bundled ear, through the gateway alone. */
describe('a conversation by voice', () => {
  let stack: TestStack;
  let gateway: string;
  let openai: OpenAI;

  beforeAll(async () => {
    stack = await startStack();
    gateway = stack.service('gateway').url;
    openai = new OpenAI({ baseURL: `${gateway}/v1`, apiKey: 'none', maxRetries: 0 });
    await ingestText(
      gateway,
      'answers.md',
      'The answer of the president is 42. The kettle stands on the shelf.',
    );
  });

  afterAll(() => stack?.stop());

  const speak = async (input: string, format: 'wav' | 'mp3' | 'opus' | 'flac' | 'pcm' = 'wav') => {
    const speech = { model: 'flite', voice: 'rms', input, response_format: format } as const;
    return Buffer.from(await (await openai.audio.speech.create(speech)).arrayBuffer());
  };
  const hear = async (audio: Buffer) => {
    const file = await toFile(audio, 'speech.wav');
    return (await openai.audio.transcriptions.create({ file, model: 'nano-asr' })).text;
  };

  it('hears a spoken question and answers it aloud, with the citation', async () => {
    const question = await speak('What is the answer of the president?');
    expect(await hear(question)).toMatch(/answer of the president/i);
    const response = await fetch(`${gateway}/v1/audioqna`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        audio: question.toString('base64'),
        stream: false,
        modalities: ['text', 'audio'],
      }),
    });
    const { choices } = (await response.json()) as OpenAI.ChatCompletion;
    const { audio, annotations } = choices[0]!.message;
    expect(audio!.transcript).toMatch(/42.*\[1\]/);
    expect(annotations).toHaveLength(1);
    expect(await hear(Buffer.from(audio!.data, 'base64'))).toMatch(/forty two/i);
  });

  it.each(['wav', 'mp3', 'opus', 'flac', 'pcm'] as const)('speaks %s', async (format) => {
    const bytes = await speak('The answer is forty two.', format);
    const seconds =
      format === 'pcm'
        ? bytes.length / 48_000
        : (await decodeAudio(bytes, { sampleRate: 16_000, maxSeconds: 60 })).length / 16_000;
    expect(seconds).toBeGreaterThan(1);
    expect(seconds).toBeLessThan(5);
  });

  it.each([
    ['an unknown voice', { voice: 'nobody' }, 'voice'],
    ['an empty text', { input: '' }, 'input'],
    ['4,097 characters', { input: 'a'.repeat(4097) }, 'input'],
  ])('refuses %s, and names the field', async (_, body, param) => {
    const asked = openai.audio.speech.create({ model: 'flite', voice: 'rms', input: 'Hello.', ...body });
    await expect(asked).rejects.toMatchObject({ status: 400, param });
  });
});
