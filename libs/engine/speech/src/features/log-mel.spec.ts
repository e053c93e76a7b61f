import { WhisperFeatureExtractor } from '@xenova/transformers';
import { describe, expect, it } from 'vitest';
import { logMelSettingsSchema, LogMelFeatures } from './log-mel.js';
import { RealFourierTransform } from './fourier-transform.js';

/** Deterministic noise in [−1, 1). */
function noise(length: number, seed = 1): Float32Array {
  let state = seed;
  return Float32Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 1_073_741_824 - 1;
  });
}

function naivePower(frame: Float64Array): number[] {
  return Array.from({ length: frame.length / 2 + 1 }, (_, k) => {
    let real = 0;
    let imaginary = 0;
    for (const [n, value] of frame.entries()) {
      real += value * Math.cos((2 * Math.PI * k * n) / frame.length);
      imaginary -= value * Math.sin((2 * Math.PI * k * n) / frame.length);
    }
    return real ** 2 + imaginary ** 2;
  });
}

describe('RealFourierTransform', () => {
  it.each([2, 4, 6, 10, 14, 64, 400, 512, 1000])(
    'agrees with the sum of its definition at %i points',
    (size) => {
      const frame = Float64Array.from(noise(size));
      const power = new Float64Array(size / 2 + 1);
      new RealFourierTransform(size).powerSpectrum(frame, power);
      for (const [bin, expected] of naivePower(frame).entries()) expect(power[bin]).toBeCloseTo(expected, 8);
    },
  );

  it('refuses odd sizes', () => {
    expect(() => new RealFourierTransform(401)).toThrow(RangeError);
  });
});

describe('LogMelFeatures', () => {
  const settings = (overrides = {}) => logMelSettingsSchema.parse(overrides);

  it('counts frames as documented, padded and not', () => {
    const frames = (length: number, overrides = {}) =>
      new LogMelFeatures(settings(overrides)).extract(noise(length)).frames;
    expect(frames(16_000)).toBe(1 + Math.floor((16_000 - 512) / 160));
    expect(frames(16_000, { center: true })).toBe(101);
    expect(frames(100)).toBe(1);
    expect(frames(0)).toBe(1);
    expect(frames(0, { center: true })).toBe(1);
    expect(frames(3, { center: true })).toBe(1);
  });

  it('finds a tone in the band around it', () => {
    const tone = Float32Array.from({ length: 8_000 }, (_, n) => Math.sin((2 * Math.PI * 1000 * n) / 16_000));
    const { values, bands } = new LogMelFeatures(settings({ n_mels: 40, win_length: 400 })).extract(tone);
    const frame = values.subarray(bands * 10, bands * 11);
    const loudest = frame.indexOf(Math.max(...frame));
    // 41 equal steps of Slaney's scale up to 8,000 Hz (45.245 mel): 1,000 Hz is mel 15, band 12.6.
    expect(loudest).toBe(13);
  });

  it('holds the floor in silence', () => {
    const { values } = new LogMelFeatures(settings()).extract(new Float32Array(1600));
    expect(new Set(values)).toEqual(new Set([Math.fround(Math.log(1e-10))]));
    const decades = new LogMelFeatures(settings({ log: 'log10' })).extract(new Float32Array(1600));
    expect(decades.values[0]).toBeCloseTo(-10, 5);
  });

  it('normalizes each band over the piece, all of it, or by given values', () => {
    const samples = noise(16_000);
    const plain = new LogMelFeatures(settings({ n_mels: 4 })).extract(samples);
    const perBand = new LogMelFeatures(settings({ n_mels: 4, normalisation: 'per_band' })).extract(samples);
    for (let band = 0; band < 4; band += 1) {
      const values = perBand.values.filter((_, index) => index % 4 === band);
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
      expect(mean).toBeCloseTo(0, 5);
      expect(variance).toBeCloseTo(1, 3);
    }
    const fixed = new LogMelFeatures(
      settings({ n_mels: 4, normalisation: 'fixed', mean: [1, 2, 3, 4], std: [2, 2, 2, 2] }),
    ).extract(samples);
    expect(fixed.values[5]).toBeCloseTo((plain.values[5]! - 2) / 2, 5);
    const utterance = new LogMelFeatures(settings({ n_mels: 4, normalisation: 'utterance' })).extract(
      samples,
    );
    expect(utterance.values.reduce((sum, value) => sum + value, 0) / utterance.values.length).toBeCloseTo(
      0,
      5,
    );
  });

  it('emphasises high frequencies', () => {
    const constant = new Float32Array(16_000).fill(0.5);
    const { values, bands } = new LogMelFeatures(settings({ preemphasis: 1 })).extract(constant);
    expect(values[5 * bands]).toBeCloseTo(Math.log(1e-10), 5);
  });

  it('refuses settings that contradict each other', () => {
    expect(logMelSettingsSchema.safeParse({ win_length: 600, n_fft: 512 }).success).toBe(false);
    expect(logMelSettingsSchema.safeParse({ fmin: 8000, fmax: 4000 }).success).toBe(false);
    expect(logMelSettingsSchema.safeParse({ normalisation: 'fixed' }).success).toBe(false);
  });

  it('agrees with the features that transformers.js makes for Whisper', async () => {
    const samples = noise(16_000 * 3, 7).map((sample, n) => 0.3 * sample * Math.sin(n / 900) ** 2);
    const whisper = new WhisperFeatureExtractor({
      feature_size: 80,
      sampling_rate: 16_000,
      hop_length: 160,
      n_fft: 400,
      n_samples: samples.length,
      nb_max_frames: 300,
    });
    const extract = whisper as unknown as (
      samples: Float32Array,
    ) => Promise<{ input_features: { data: Float32Array } }>;
    const { input_features: theirs } = await extract(samples);
    const { values, bands } = new LogMelFeatures(
      settings({ n_mels: 80, n_fft: 400, center: true, mel_norm: 'slaney', fmax: 8000, log: 'log10' }),
    ).extract(samples);
    // Whisper's own last steps: the last frame goes, eight decades below the loudest at least, scaled; bands first.
    const frames = 300;
    const loudest = values.subarray(0, frames * bands).reduce((a, b) => Math.max(a, b));
    const ours = Float32Array.from({ length: frames * bands }, (_, index) => {
      const value = values[(index % frames) * bands + Math.floor(index / frames)]!;
      return (Math.max(value, loudest - 8) + 4) / 4;
    });
    expect(theirs.data).toHaveLength(ours.length);
    const worst = ours.reduce(
      (most, value, index) => Math.max(most, Math.abs(value - theirs.data[index]!)),
      0,
    );
    expect(worst).toBeLessThan(1e-4);
  });
});
