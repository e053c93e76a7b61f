import { type SpeechRequest, Synthesis } from '#api/audio-api';
import { type GenerationChunk, MegaNestError, type SpeechChunk, type TtsInfo } from '#platform/contracts';
import type { SpokenChunk } from '#api/openai-api';
import type { HttpCall } from '#platform/service-kit';
import { expect, it } from 'vitest';
import { SentenceReader, speakAlong, speakWhole, spokenForm } from './speak-along.js';

/** Speaks one byte for each character, and records the requests. */
class Letters extends Synthesis {
  readonly asked: SpeechRequest[] = [];

  override describe(): Promise<TtsInfo> {
    return Promise.reject(new Error('not asked'));
  }

  override async *synthesize(request: SpeechRequest): AsyncGenerator<SpeechChunk> {
    this.asked.push(request);
    await Promise.resolve();
    if (request.voice === 'nobody')
      throw new MegaNestError('invalid_request', { detail: 'voice: is not known', param: 'voice' });
    yield { voice: { model: 'letters', voice: 'a', sampleRate: 24_000, ignored: [] } };
    yield { audio: Buffer.from(request.input).toString('base64'), seconds: 1 };
  }
}

const call = { signal: new AbortController().signal } as HttpCall;
const end: GenerationChunk = {
  choice: 0,
  text: '',
  finishReason: 'stop',
  usage: { promptTokens: 1, completionTokens: 1, cachedTokens: 0 },
};

async function readAll(chunks: AsyncIterable<SpokenChunk>): Promise<SpokenChunk[]> {
  const all: SpokenChunk[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}
const heard = (chunks: SpokenChunk[]) => chunks.map(({ audio }) => audio?.data?.toString() ?? '').join('');

it('speaks a sentence before the next one is written, and ends after the speech', async () => {
  const synthesis = new Letters();
  let finishWriting = () => {};
  const written = new Promise<void>((resolve) => (finishWriting = resolve));
  async function* chunks(): AsyncGenerator<GenerationChunk> {
    yield { choice: 0, text: 'One is here. [1] Two ' };
    await written;
    yield { choice: 0, text: 'follows.' };
    yield end;
  }
  const spoken = speakAlong(chunks(), {}, synthesis, call);
  const seen: SpokenChunk[] = [];
  for await (const chunk of spoken) {
    seen.push(chunk);
    if (chunk.audio?.data?.toString() === 'One is here.') finishWriting();
  }
  expect(heard(seen)).toBe('One is here.Two follows.');
  expect(seen.map(({ audio }) => audio?.transcript ?? '').join('')).toBe('One is here. [1] Two follows.');
  expect(seen.at(-1)).toMatchObject({
    finishReason: 'stop',
    audio: { expiresAt: expect.any(Number) as number },
  });
});

async function* answer(text: string): AsyncGenerator<GenerationChunk> {
  yield { choice: 0, text };
  await Promise.resolve();
  yield end;
}

it('makes one file of the whole text for formats that cannot be joined', async () => {
  const synthesis = new Letters();
  const chunks = await readAll(speakWhole(answer('One. Two. [1]'), { format: 'mp3' }, synthesis, call));
  expect(synthesis.asked).toMatchObject([{ input: 'One. Two.', format: 'mp3' }]);
  expect(heard(chunks)).toBe('One. Two.');
  const long = speakWhole(answer('word '.repeat(1000)), { format: 'flac' }, synthesis, call);
  await expect(readAll(long)).rejects.toMatchObject({ param: 'audio.format' });
});

it('speaks answers of any length as wav', async () => {
  const synthesis = new Letters();
  const chunks = await readAll(speakWhole(answer('word'.repeat(2000)), { format: 'wav' }, synthesis, call));
  const data = Buffer.concat(chunks.flatMap(({ audio }) => audio?.data ?? []));
  expect(data.subarray(0, 4).toString()).toBe('RIFF');
  expect(data.length).toBe(44 + 8000);
});

it('names the field of a voice that is not known, and leaves refusals and empty answers unspoken', async () => {
  const synthesis = new Letters();
  const unknown = speakAlong(answer('One. Two.'), { voice: 'nobody' }, synthesis, call);
  await expect(readAll(unknown)).rejects.toMatchObject({ param: 'audio.voice' });
  synthesis.asked.length = 0;
  const silent = await readAll(speakWhole(answer(''), { format: 'wav' }, synthesis, call));
  expect(silent.at(-1)?.finishReason).toBe('stop');
  expect(synthesis.asked).toEqual([]);
});

it('gives a sentence when the next one begins, and the rest at the end', () => {
  const reader = new SentenceReader();
  const pieces = ['The gateway lis', 'tens. It', ' has a port. ', 'Dr. ', 'Who knows'];
  expect(pieces.flatMap((piece) => reader.push(piece)).join('|')).toBe(
    'The gateway listens. |It has a port. ',
  );
  expect(reader.finish()).toBe('Dr. Who knows');
  expect(reader.finish()).toBe('');
});

it.each([
  ['The port is 8888. [1]', 'The port is 8888.'],
  ['It is 8888 [1][2], see [3, 4].', 'It is 8888, see.'],
  ['## **Ports** and `HOST`', 'Ports and HOST'],
  ['- see [the page](https://example.org/a)', 'see the page'],
  ['a snake_case_name * 2', 'a snake_case_name  2'],
  ['[1]', ''],
])('reads %j as %j', (written, spoken) => {
  expect(spokenForm(written)).toBe(spoken);
});
