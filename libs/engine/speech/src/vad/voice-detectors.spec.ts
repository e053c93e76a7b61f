import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot, testData } from '#platform/foundation';
import { decodeAudio } from '../audio/decode-audio.js';
import {
  EnergyGate,
  SileroDetector,
  joinSpans,
  detectorRate,
  type VoiceDetector,
} from './voice-detectors.js';

const silero = testData('models/silero-vad/silero_vad.onnx');
const seconds = (count: number) => Math.round(count * detectorRate);

/** The spoken question twice, two seconds of faint noise before, between and behind. */
async function recording(): Promise<{ samples: Float32Array; speech: number }> {
  const file = await readFile(path.join(projectRoot, 'test/fixtures/asr/question.wav'));
  const question = await decodeAudio(file, { sampleRate: detectorRate, maxSeconds: 60 });
  const samples = Float32Array.from(
    { length: 2 * question.length + seconds(6) },
    (_, n) => 1e-4 * Math.sin(n * n),
  );
  samples.set(question, seconds(2));
  samples.set(question, seconds(4) + question.length);
  return { samples, speech: question.length };
}

/** How far in seconds, at most, the spans found lie from the two questions; infinite where there are not two. */
async function deviation(detector: VoiceDetector): Promise<number> {
  const { samples, speech } = await recording();
  const joined = joinSpans(await detector.detect(samples), seconds(60), seconds(1));
  if (joined.length !== 2) return Infinity;
  const borders = [seconds(2), seconds(2) + speech, seconds(4) + speech, seconds(4) + 2 * speech];
  const found = joined.flatMap(({ start, end }) => [start, end]);
  return Math.max(...borders.map((border, index) => Math.abs(found[index]! - border))) / detectorRate;
}

describe('EnergyGate', () => {
  it('finds speech between pauses', async () => {
    expect(await deviation(new EnergyGate())).toBeLessThan(0.6);
  });

  it('finds nothing in silence, and all of a steady tone', async () => {
    const gate = new EnergyGate();
    expect(await gate.detect(new Float32Array(seconds(1)))).toEqual([]);
    expect(await gate.detect(new Float32Array())).toEqual([]);
    const tone = Float32Array.from({ length: seconds(1) }, (_, n) => 0.3 * Math.sin(n / 5));
    expect(await gate.detect(tone)).toEqual([{ start: 0, end: seconds(1) }]);
  });
});

describe.skipIf(!existsSync(silero))('SileroDetector', () => {
  it('finds speech between pauses, and none in a tone', async () => {
    const detector = await SileroDetector.load(silero);
    expect(await deviation(detector)).toBeLessThan(0.6);
    const tone = Float32Array.from({ length: seconds(1) }, (_, n) => 0.3 * Math.sin(n / 5));
    expect(await detector.detect(tone)).toEqual([]);
    await detector.close();
  });
});

describe('joinSpans', () => {
  it('joins neighbors as far as length and pause allow', () => {
    const spans = [
      { start: 0, end: 10 },
      { start: 12, end: 20 },
      { start: 21, end: 40 },
      { start: 60, end: 70 },
    ];
    expect(joinSpans(spans, 30, 5)).toEqual([
      { start: 0, end: 20 },
      { start: 21, end: 40 },
      { start: 60, end: 70 },
    ]);
  });
});
