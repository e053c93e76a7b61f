import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startNats, startService, type TestNats, type TestService } from '#platform/testing';

let nats: TestNats;
let tts: TestService;
let asr: TestService;
let client: OpenAI;

beforeAll(async () => {
  nats = await startNats();
  [tts, asr] = await Promise.all([
    startService('tts', { NATS_URL: nats.url }),
    startService('asr', { NATS_URL: nats.url }),
  ]);
  client = new OpenAI({ baseURL: `${tts.url}/v1`, apiKey: 'none', maxRetries: 0 });
});

afterAll(async () => {
  await Promise.all([tts?.stop(), asr?.stop()]);
  await nats?.stop();
});

const sentence = 'The answer is forty two. One two three four five six seven eight nine.';

async function transcribe(bytes: Buffer, name: string): Promise<string> {
  const ear = new OpenAI({ baseURL: `${asr.url}/v1`, apiKey: 'none' });
  const file = await toFile(bytes, name);
  return (await ear.audio.transcriptions.create({ file, model: 'nano-asr' })).text;
}

describe('POST /v1/audio/speech', () => {
  it.each([
    ['mp3', 'audio/mpeg'],
    ['opus', 'audio/ogg; codecs=opus'],
    ['wav', 'audio/wav'],
    ['flac', 'audio/flac'],
  ] as const)("answers OpenAI's client with %s that our own ear understands", async (format, type) => {
    const answer = await client.audio.speech.create({
      model: 'flite',
      voice: 'alloy',
      input: sentence,
      response_format: format,
    });
    expect(answer.headers.get('content-type')).toBe(type);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(await transcribe(bytes, `speech.${format}`)).toMatch(
      /the answer is forty two.* one two three four five/,
    );
  });

  it('answers pcm with 24,000 samples of 16 bits a second, faster at a higher speed', async () => {
    const speak = async (speed: number) => {
      const body = { model: 'flite', voice: 'rms', input: sentence, response_format: 'pcm', speed } as const;
      return (await (await client.audio.speech.create(body)).arrayBuffer()).byteLength / 48_000;
    };
    const [usual, fast] = [await speak(1), await speak(1.5)];
    expect(usual).toBeGreaterThan(2);
    expect(usual).toBeLessThan(6);
    expect(fast / usual).toBeLessThan(0.8);
  });

  it('streams events, sentence by sentence', async () => {
    const body = { model: 'flite', voice: 'slt', input: 'One. Two. Three.', response_format: 'mp3' } as const;
    const response = await client.audio.speech.create({ ...body, stream_format: 'sse' });
    const events = (await response.text())
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice(6)) as { type: string; audio?: string; usage?: object });
    expect(events.filter(({ type }) => type === 'speech.audio.delta').length).toBeGreaterThan(2);
    expect(events.at(-1)).toMatchObject({ type: 'speech.audio.done', usage: { input_tokens: 16 } });
  });

  const post = async (body: object) => {
    const response = await fetch(`${tts.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'flite', voice: 'rms', input: 'Hello.', ...body }),
    });
    const text = response.status === 200 ? '' : await response.text();
    const { error } = text ? (JSON.parse(text) as { error: { param: string; message: string } }) : {};
    if (!text) await response.arrayBuffer();
    return {
      status: response.status,
      param: error?.param,
      message: error?.message,
      headers: response.headers,
    };
  };

  it.each([
    ['an unknown voice', { voice: 'nobody' }, 400, 'voice', /Voices: rms/],
    ['no text', { input: '' }, 400, 'input', /must contain a text/],
    ['a blank text', { input: ' \n' }, 400, 'input', /must contain a text/],
    ['a text without English letters', { input: '世界' }, 400, 'input', /English only/],
    ['4,097 characters', { input: 'a'.repeat(4097) }, 400, 'input', /more than 4096 characters/],
    ['a speed beyond 4', { speed: 5 }, 400, 'speed', /speed/],
    ['an unknown format', { response_format: 'aac' }, 400, 'response_format', /mp3/],
  ])('refuses %s', async (_, body, status, param, message) => {
    expect(await post(body)).toMatchObject({
      status,
      param,
      message: expect.stringMatching(message) as string,
    });
  });

  it('names fields without an effect', async () => {
    const { status, headers } = await post({ instructions: 'Whisper.', mood: 'glad' });
    expect(status).toBe(200);
    expect(headers.get('x-meganest-ignored')).toBe('mood, instructions');
  });
});
