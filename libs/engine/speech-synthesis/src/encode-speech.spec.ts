import { describe, expect, it } from 'vitest';
import { decodeAudio } from '#engine/speech';
import { createSpeechEncoder, speechSampleRate } from './encode-speech.js';

const seconds = 1.37;
const frequency = 440;
const tone = Float32Array.from(
  { length: Math.round(seconds * speechSampleRate) },
  (_, index) => 0.5 * Math.sin((2 * Math.PI * frequency * index) / speechSampleRate),
);

async function encode(
  format: Parameters<typeof createSpeechEncoder>[0],
  opened = createSpeechEncoder(format),
): Promise<Buffer> {
  const encoder = await opened;
  const parts = [await encoder.push(tone.subarray(0, 10_000)), await encoder.push(tone.subarray(10_000))];
  const file = Buffer.concat([...parts, await encoder.finish()]);
  encoder.close();
  return file;
}

const rate = 16_000;

/** How often a signal crosses zero upwards, by second. */
function pitchOf(samples: Float32Array, rate: number): number {
  let crossings = 0;
  for (let index = 1; index < samples.length; index++)
    if (samples[index - 1]! < 0 && samples[index]! >= 0) crossings += 1;
  return crossings / (samples.length / rate);
}

describe('createSpeechEncoder', () => {
  it.each(['mp3', 'opus', 'wav', 'flac'] as const)(
    'writes %s that decodes to the same tone',
    async (format) => {
      const samples = await decodeAudio(await encode(format), { sampleRate: rate, maxSeconds: 10 });
      const length = samples.length;
      // Lossy codecs add part of a frame at both ends.
      expect(length / rate).toBeGreaterThan(seconds - 0.01);
      expect(length / rate).toBeLessThan(seconds + 0.12);
      const middle = samples.subarray(Math.round(0.2 * rate), Math.round(1.2 * rate));
      expect(pitchOf(middle, rate)).toBeGreaterThan(frequency - 3);
      expect(pitchOf(middle, rate)).toBeLessThan(frequency + 3);
      expect(Math.max(...middle)).toBeGreaterThan(0.4);
    },
  );

  it.each(['opus', 'flac'] as const)(
    'gives back the memory of %s files that are abandoned',
    async (format) => {
      const whole = await encode(format);
      const opened = createSpeechEncoder(format);
      await opened;
      for (let count = 0; count < 1_500; count += 1) {
        const encoder = await createSpeechEncoder(format);
        if (count % 100 === 0) await encoder.push(tone.subarray(0, 10_000));
        encoder.close();
      }
      // The memory of a codec that has to grow is another one, and encoders that are under way lose it.
      expect((await encode(format, opened)).length).toBe(whole.length);
    },
  );

  it('writes pcm as bare samples of 16 bits', async () => {
    const bytes = await encode('pcm');
    expect(bytes.length).toBe(2 * tone.length);
    expect(bytes.readInt16LE(200) / 32_767).toBeCloseTo(tone[100]!, 3);
  });
});
