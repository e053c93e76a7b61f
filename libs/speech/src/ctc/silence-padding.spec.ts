import { expect, it } from 'vitest';
import { padWithSilence } from './silence-padding.js';

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
