import { assert, asyncProperty, integer } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { padWithSilence, scoreWindows } from './speech-session.js';

/** A network of one unit and four samples a step: the score of a step is its first sample. */
const run = (samples: Float32Array) => {
  const values = samples.filter((_, index) => index % 4 === 0);
  return Promise.resolve({ values, steps: values.length, width: 1 });
};

describe('scoreWindows', () => {
  it('joins windows without gap or repetition, whatever the length', () =>
    assert(
      asyncProperty(integer({ min: 1, max: 2_000 }), async (length) => {
        const samples = Float32Array.from({ length }, (_, index) => index);
        const { values } = await scoreWindows(samples, { window: 80, overlap: 16 }, run);
        expect([...values]).toEqual([...(await run(samples)).values]);
      }),
    ));

  it('runs a piece that fits one window once', async () => {
    const scores = await scoreWindows(Float32Array.of(1, 2, 3, 4), { window: 8, overlap: 2 }, run);
    expect([...scores.values]).toEqual([1]);
  });
});

describe('padWithSilence', () => {
  const recording = Float32Array.from({ length: 1_000 }, (_, index) => Math.sin(index / 3));
  const loudness = (samples: Float32Array) => Math.hypot(...samples) / Math.sqrt(samples.length);

  it('puts quiet around speech that fills its recording, the same each time', () => {
    const { samples, start } = padWithSilence(recording, { start: 0, end: 1_000 }, 200);
    expect(start).toBe(-200);
    expect(samples).toHaveLength(1_400);
    expect(samples.subarray(200, 1_200)).toEqual(recording);
    for (const margin of [samples.subarray(0, 200), samples.subarray(1_200)]) {
      expect(loudness(margin) / loudness(recording)).toBeCloseTo(0.005, 3);
    }
    expect(padWithSilence(recording, { start: 0, end: 1_000 }, 200).samples).toEqual(samples);
  });

  it('leaves speech alone that has the recording around it', () => {
    const { samples, start } = padWithSilence(recording, { start: 100, end: 900 }, 200);
    expect(start).toBe(100);
    expect(samples).toEqual(recording.subarray(100, 900));
    expect(padWithSilence(recording, { start: 0, end: 900 }, 200).samples).toHaveLength(1_100);
    expect(padWithSilence(recording, { start: 0, end: 1_000 }, 0).samples).toEqual(recording);
  });
});
