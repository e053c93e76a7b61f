import { describeAsrModel, MegaNestError, type TranscriptChunk } from '#platform/contracts';
import { describe, expect, it } from 'vitest';
import type { ReadingPart } from '../prepare-document.js';
import { MediaReader } from './media-reader.js';

const signal = new AbortController().signal;
const wav = new TextEncoder().encode('RIFF\0\0\0\0WAVE');
const source = { bytes: wav, filename: 'talk.wav', mimeType: 'audio/wav' };
const reference = { filename: 'talk.wav', mimeType: 'audio/wav', bytes: 12, objectId: 'stored' };
const audio = { model: 'nano-asr', seconds: 9.4, language: 'en', ignored: [] };

const segment = (id: number, start: number, text: string): TranscriptChunk => ({
  segment: { id, start, end: start + 3, text, tokens: [], avgLogprob: 0, temperature: 0 },
  done: start + 3,
});

/** A reader whose asr service answers these chunks. `removed`: the objects that were deleted. */
function open(chunks: (TranscriptChunk | MegaNestError)[], maxSeconds = 60) {
  const removed: string[] = [];
  const rpc = {
    request: (method: unknown) =>
      method === describeAsrModel && chunks.length > 0
        ? Promise.resolve({ id: 'nano-asr' })
        : Promise.reject(new MegaNestError('service_unavailable', { service: 'asr', detail: 'gone' })),
    stream: async function* () {
      await Promise.resolve();
      for (const chunk of chunks) {
        if (chunk instanceof MegaNestError) throw chunk;
        yield chunk;
      }
    },
  };
  const objects = {
    put: () => Promise.resolve({ ...reference, objectId: 'temporary' }),
    delete: (id: string) => Promise.resolve(void removed.push(id)),
  };
  const reader = new MediaReader(rpc as never, objects, { maxSeconds, comeBackMs: 0 });
  return { reader, removed };
}

const code = (error: unknown) => (error as MegaNestError).code;

describe('MediaReader', () => {
  it('gives the transcript with its times, its facts and the progress, and removes what it stored', async () => {
    const { reader, removed } = open([
      { audio },
      segment(0, 0, 'The quorl weighs'),
      segment(1, 3, 'ten grams.'),
    ]);
    const parts: ReadingPart[] = [];
    const media = await reader.store(source, undefined);
    const document = await reader.read(media, { signal }, (part) => parts.push(part));
    expect(document).toEqual({
      blocks: [{ kind: 'paragraph', text: 'The quorl weighs ten grams.', time: { start: 0, end: 6 } }],
      facts: { seconds: 9, language: 'en', transcribedBy: 'nano-asr' },
    });
    expect(parts.map(({ completed, total }) => [completed, total])).toEqual([
      [0, 10],
      [3, 10],
      [6, 10],
    ]);
    expect(removed).toEqual(['temporary']);
  });

  it('leaves a file where it is, and says that pictures were not read', async () => {
    const { reader, removed } = open([{ audio }, segment(0, 0, 'Hello.')]);
    const media = await reader.store(source, reference);
    const { warnings } = await reader.read({ ...media, hasPictures: true }, { signal });
    expect(warnings).toMatchObject([{ code: 'picture_skipped' }]);
    expect(removed).toEqual([]);
  });

  it('refuses what is too long, what has no speech, and a codec by its name', async () => {
    const read = async (chunks: (TranscriptChunk | MegaNestError)[], maxSeconds?: number) => {
      const { reader, removed } = open(chunks, maxSeconds);
      const failure = await reader
        .read(await reader.store(source, undefined), { signal })
        .catch((error: unknown) => error);
      expect(removed).toEqual(['temporary']);
      return failure as MegaNestError;
    };
    const long = await read([{ audio }, segment(0, 0, 'Hello.')], 9);
    expect([long.code, long.message]).toEqual([
      'payload_too_large',
      'The recording is larger than the limit of 9 seconds.',
    ]);
    expect((await read([{ audio }])).message).toContain('speech was not found');
    const codec = new MegaNestError('unsupported_file', { file: 'talk.m4a', detail: 'aac is not supported' });
    expect((await read([codec])).message).toContain('aac is not supported');
  });

  it('says that the asr service is missing', async () => {
    const { reader } = open([]);
    const failure = await reader.model('talk.wav', { signal }).catch((error: unknown) => error);
    expect([code(failure), (failure as Error).message]).toEqual([
      'unsupported_file',
      'The file talk.wav cannot be read: the asr service, which transcribes audio and video, is not available',
    ]);
  });
});
