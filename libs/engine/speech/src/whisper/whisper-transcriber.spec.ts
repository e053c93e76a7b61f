import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TranscriptSegment } from '#platform/contracts';
import { TokenVocabulary } from '#engine/models';
import { tinyWhisper, writeWhisperModel } from '../../../../../test/support/whisper-model.js';
import { writeWav } from '../audio/wav.fixture.js';
import type { TranscribeRequest, TranscriptEvent, TranscriberSettings } from '../transcriber.js';
import { WhisperTranscriber } from './whisper-transcriber.js';
import { splitWindow, wordsOf, tokenTimes } from './timestamps.js';

let folder: string;
let model: WhisperTranscriber;
const settings = (directory: string): TranscriberSettings => ({
  id: 'tiny',
  directory,
  device: 'cpu',
  threads: 1,
  engine: { kind: 'compiled', compiledDirectory: join(folder, 'compiled'), weights: 'fp32' },
  maxSeconds: 60,
  beams: 8,
  windows: 2,
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-whisper-files-'));
  await writeWhisperModel(join(folder, 'tiny'), tinyWhisper, { seed: 3, confidence: 8 });
  model = await WhisperTranscriber.load(settings(join(folder, 'tiny')));
});
afterAll(async () => {
  await model?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Tones of 0.6 to 2.4 s with pauses between them. */
function recording(): Uint8Array {
  const parts = [0.6, 2.4, 1.2, 0.8].map((seconds, number) =>
    Float32Array.from({ length: (seconds + 0.7) * 16_000 }, (_, n) =>
      n < seconds * 16_000 ? 0.4 * Math.sin((n * (200 + 90 * number + n / 60)) / 16_000) : 0,
    ),
  );
  return writeWav([Float32Array.from(parts.flatMap((part) => [...part]))], 16_000);
}

async function transcribe(request: Partial<TranscribeRequest> = {}, signal = new AbortController().signal) {
  const events: TranscriptEvent[] = [];
  await model.transcribe(
    { audio: recording(), ...request },
    { signal, emit: (event) => void events.push(event) },
  );
  const audio = events[0]?.kind === 'audio' ? events[0] : undefined;
  const segments = events.flatMap((event): TranscriptSegment[] =>
    event.kind === 'segment' ? [event.segment] : [],
  );
  return { audio, segments };
}

describe('WhisperTranscriber', () => {
  it('transcribes a file longer than its window, in segments whose times rise', async () => {
    const { audio, segments } = await transcribe();
    expect(audio?.ignored).toEqual([]);
    expect(audio?.seconds).toBeCloseTo(7.8, 2);
    expect(['en', 'de', 'fr']).toContain(audio?.language);
    expect(segments.length).toBeGreaterThan(3);
    expect(segments.map(({ id }) => id)).toEqual(segments.map((_, index) => index));
    for (const { start, end, text, tokens } of segments) {
      expect(end).toBeGreaterThanOrEqual(start);
      expect(end).toBeLessThanOrEqual(7.8);
      expect(text).not.toBe('');
      expect(Math.max(...tokens)).toBeLessThan(tinyWhisper.textTokens + 2);
    }
    const starts = segments.map(({ start }) => start);
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  });

  it('writes the same for files side by side, and with a temperature, draws', async () => {
    const [alone, ...together] = [
      await transcribe(),
      ...(await Promise.all([transcribe(), transcribe(), transcribe()])),
    ];
    for (const one of together) expect(one).toEqual(alone);
    const drawn = await transcribe({ temperature: 1 });
    expect(new Set(drawn.segments.map(({ temperature }) => temperature))).toEqual(new Set([1]));
  });

  it('tells words and probabilities where details are wanted', async () => {
    const { segments } = await transcribe({ details: true, temperature: 0.001, prompt: 'Ports' });
    for (const { words, logprobs, tokens, start, end, text } of segments) {
      expect(logprobs).toHaveLength(tokens.length);
      expect(words?.map(({ word }) => word).join('')).toBe(text.replaceAll(/\s/g, ''));
      for (const word of words ?? []) {
        expect(word.start).toBeGreaterThanOrEqual(start);
        expect(word.end).toBeGreaterThanOrEqual(word.start);
        expect(word.end).toBeLessThanOrEqual(end);
      }
    }
  });

  it('translates, refuses unsupported languages, and returns an empty transcript for silence', async () => {
    const said = await transcribe({ language: 'de', temperature: 0.001 });
    const translated = await transcribe({ language: 'de', task: 'translate', temperature: 0.001 });
    expect(translated.segments).not.toEqual(said.segments);
    await expect(transcribe({ language: 'tlh' })).rejects.toMatchObject({ param: 'language' });
    const silence = await transcribe({ audio: writeWav([new Float32Array(16_000)], 16_000) });
    expect(silence).toMatchObject({ audio: { seconds: 1, language: 'en' }, segments: [] });
  });

  it('stops when cancelled', async () => {
    await expect(transcribe({}, AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('leaves out words and refuses to translate where the model cannot', async () => {
    const directory = join(folder, 'english');
    await writeWhisperModel(directory, tinyWhisper, { seed: 4, confidence: 8 });
    const file = join(directory, 'generation_config.json');
    const generation = JSON.parse(await readFile(file, 'utf8')) as object;
    const english = { ...generation, lang_to_id: {}, task_to_id: {}, alignment_heads: null };
    await writeFile(file, JSON.stringify(english));
    const only = await WhisperTranscriber.load(settings(directory));
    const events: TranscriptEvent[] = [];
    const context = {
      signal: new AbortController().signal,
      emit: (event: TranscriptEvent) => void events.push(event),
    };
    await only.transcribe({ audio: recording(), details: true }, context);
    expect(events[0]).toMatchObject({ language: 'en', ignored: ['timestamp_granularities'] });
    await expect(only.transcribe({ audio: recording(), task: 'translate' }, context)).rejects.toMatchObject({
      param: 'model',
    });
    await expect(only.transcribe({ audio: recording(), language: 'de' }, context)).rejects.toMatchObject({
      param: 'language',
    });
    await only.close();
  });
});

describe('splitWindow', () => {
  const time = (seconds: number) => 1000 + Math.round(seconds * 50);
  const split = (tokens: number[], seconds = 30) => splitWindow({ tokens }, 1000, seconds);

  it('cuts at pairs of timestamps and goes on behind the last whole segment', () => {
    expect(split([time(0), 1, 2, time(2), time(2.5), 3, time(4), time(4), 5, 6])).toEqual({
      segments: [
        { start: 0, end: 2, places: [1, 2] },
        { start: 2.5, end: 4, places: [5] },
      ],
      transcribedSeconds: 4,
    });
  });

  it('is done where the last segment has its end, or there is one segment only', () => {
    expect(split([time(0), 1, time(2), time(2), 2, time(4)], 10)).toMatchObject({
      segments: [{ end: 2 }, { start: 2, end: 4 }],
      transcribedSeconds: 10,
    });
    expect(split([time(0.5), 1, 2, time(3)], 10)).toEqual({
      segments: [{ start: 0.5, end: 3, places: [1, 2] }],
      transcribedSeconds: 10,
    });
    expect(split([time(0.5), 1], 10)).toMatchObject({
      segments: [{ start: 0.5, end: 10 }],
      transcribedSeconds: 10,
    });
    expect(split([], 10)).toEqual({ segments: [], transcribedSeconds: 10 });
    expect(split([time(28), 1, time(30)], 10)).toMatchObject({ segments: [{ start: 10, end: 10 }] });
  });
});

describe('tokenTimes', () => {
  it('follows the head that looks along the audio', () => {
    const source = 60;
    const places = [2, 12, 12, 30, 48];
    const row = (place: number) => {
      const noise = Float32Array.from({ length: source }, (_, n) => 0.01 * (1 + Math.sin(n * place)));
      const peak = Float32Array.from({ length: source }, (_, n) => Math.exp(-(((n - place) / 3) ** 2)));
      return Float32Array.from([...noise, ...peak]);
    };
    const times = tokenTimes(places.map(row), source, 55);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    for (const index of [1, 3, 4]) expect(Math.abs(times[index]! - places[index]! * 0.02)).toBeLessThan(0.25);
    expect(tokenTimes([], source, 55)).toEqual([]);
  });
});

describe('wordsOf', () => {
  it('begins words at spaces, keeps characters whole, and takes each for a word in Chinese', async () => {
    const vocabulary = await TokenVocabulary.load(join(folder, 'tiny'));
    const timed = (text: string) =>
      [...Buffer.from(text)].map((token, index) => ({ token, start: index, end: index + 1 }));
    expect(wordsOf(timed(' ab ü.'), vocabulary, 'de')).toEqual([
      { word: 'ab', start: 0, end: 3 },
      { word: 'ü.', start: 3, end: 7 },
    ]);
    expect(wordsOf(timed('日本。'), vocabulary, 'ja')).toEqual([
      { word: '日', start: 0, end: 3 },
      { word: '本。', start: 3, end: 9 },
    ]);
  });
});
