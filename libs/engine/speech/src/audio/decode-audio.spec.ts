import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { MegaNestError } from '#platform/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '#platform/foundation';
import { decodeAudio, type DecodeAudioOptions } from './decode-audio.js';
import { writeWav, type WavForm } from './wav.fixture.js';

/** Low, so that comparisons at every delay are quick. */
const rate = 4_000;
const fixture = (file: string) => readFile(path.join(projectRoot, 'test/fixtures/asr', file));
const decode = (bytes: Uint8Array, options: Partial<DecodeAudioOptions> = {}) =>
  decodeAudio(bytes, { sampleRate: rate, maxSeconds: 60, filename: 'speech', ...options });

/** The best correlation of two signals over the delays that encoders add. */
function similarity(a: Float32Array, b: Float32Array): number {
  const norm = (values: Float32Array) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
  let best = 0;
  for (let delay = -50; delay < 500; delay += 1) {
    let sum = 0;
    for (let n = Math.max(0, -delay); n < Math.min(a.length, b.length - delay); n += 1)
      sum += a[n]! * b[n + delay]!;
    best = Math.max(best, sum);
  }
  return best / (norm(a) * norm(b));
}

describe('decodeAudio', () => {
  let question: Float32Array;
  beforeAll(async () => {
    question = await decode(await fixture('question.wav'));
  });

  it.each([
    'mono-22050.flac',
    'flac.oga', // 24 bits a sample
    'stereo-44100.mp3',
    'mono-16000.mp3',
    'opus.ogg',
    'opus.webm',
    'vorbis.ogg',
  ])('decodes %s to the samples of the WAV file', async (file) => {
    const samples = await decode(await fixture(file));
    expect(Math.abs(samples.length - question.length)).toBeLessThan(rate * 0.15);
    expect(similarity(question, samples)).toBeGreaterThan(0.95);
  });

  it.each<[WavForm, number, number]>([
    ['u8', 16_000, 1],
    ['s16', 8_000, 1],
    ['s24', 16_000, 2],
    ['s32', 16_000, 1],
    ['f32', 48_000, 2],
    ['f64', 16_000, 1],
  ])('reads %s WAV at %i Hz with %i channels', async (form, sampleRate, channels) => {
    const atRate = await decode(await fixture('question.wav'), { sampleRate });
    const wav = writeWav(Array<Float32Array>(channels).fill(atRate), sampleRate, form);
    expect(similarity(question, await decode(wav))).toBeGreaterThan(0.97);
  });

  it('mixes channels down', async () => {
    const wav = writeWav([Float32Array.of(1, 0, -1), Float32Array.of(0, 0, -1)], rate, 'f32');
    expect([...(await decode(wav))]).toEqual([0.5, 0, -1]);
  });

  it.each([
    ['an empty file', new Uint8Array(), /empty/],
    ['text', new TextEncoder().encode('this is no audio'), /not in a supported audio format/],
    ['a WAV file without samples', writeWav([new Float32Array()], 16_000), /does not contain audio/],
    ['a WAV head alone', writeWav([], 16_000).slice(0, 20), /does not contain audio/],
    ['an MP3 mark alone', Uint8Array.of(0xff, 0xfb, 1, 2, 3), /does not contain audio/],
    ['a broken Ogg file', new TextEncoder().encode(`OggS${'x'.repeat(200)}`), /container/],
  ])('refuses %s', async (_what, bytes, message) => {
    await expect(decode(bytes)).rejects.toMatchObject({ code: 'unsupported_file', param: 'file', message });
  });

  it('refuses what it has no decoder for by name', async () => {
    await expect(decode(await fixture('aac.m4a'))).rejects.toMatchObject({
      code: 'unsupported_file',
      message: /speech.*aac is not supported/,
    });
  });

  it.each(['mono-22050.flac', 'stereo-44100.mp3', 'opus.webm', 'vorbis.ogg'])(
    'survives damage to %s: some samples, or a clear error',
    async (file) => {
      const bytes = Uint8Array.from(await fixture(file));
      for (let at = 100; at < bytes.length; at += 97) bytes[at]! ^= 0x55;
      const outcome = await decode(bytes).then(
        () => 'samples',
        (error: unknown) => (error instanceof MegaNestError ? error.code : error),
      );
      expect(['samples', 'unsupported_file']).toContain(outcome);
    },
  );

  it('refuses what is too long, and stops when cancelled', async () => {
    const wav = writeWav([new Float32Array(16_000 * 3)], 16_000);
    await expect(decode(wav, { maxSeconds: 2 })).rejects.toMatchObject({ code: 'payload_too_large' });
    await expect(decode(wav, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' });
  });
});
