import { array, assert, nat, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Resampler } from './resampler.js';

const tone = (hertz: number, rate: number, seconds = 0.5) =>
  Float32Array.from({ length: rate * seconds }, (_, n) => Math.sin((2 * Math.PI * hertz * n) / rate));

function resample(samples: Float32Array, from: number, to: number, cuts: readonly number[] = []): number[] {
  const resampler = new Resampler(from, to);
  const borders = [0, ...cuts.toSorted((a, b) => a - b), samples.length];
  const pieces = borders.slice(1).map((end, index) => resampler.push(samples.slice(borders[index], end)));
  return [...pieces, resampler.finish()].flatMap((piece) => [...piece]);
}

const rms = (values: readonly number[]) =>
  Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);

describe('Resampler', () => {
  it.each([8_000, 11_025, 22_050, 44_100, 48_000, 96_000])('keeps a tone of 1 kHz from %i Hz', (rate) => {
    const output = resample(tone(1_000, rate), rate, 16_000);
    const expected = tone(1_000, 16_000);
    expect(output).toHaveLength(Math.ceil((rate / 2) * (16_000 / rate)));
    // Away from the ends, where the signal begins and stops.
    const errors = output.slice(200, -200).map((value, index) => value - expected[index + 200]!);
    expect(rms(errors)).toBeLessThan(1e-3);
  });

  it('lets nothing through from above the new Nyquist frequency', () => {
    const output = resample(tone(12_000, 48_000), 48_000, 16_000);
    expect(rms(output.slice(100, -100))).toBeLessThan(1e-3);
  });

  it('gives the same samples however the input is cut', () => {
    const signal = tone(440, 44_100, 0.05);
    const whole = resample(signal, 44_100, 16_000);
    assert(
      property(array(nat(signal.length), { maxLength: 8 }), (cuts) => {
        expect(resample(signal, 44_100, 16_000, cuts)).toEqual(whole);
      }),
      { numRuns: 30 },
    );
  });

  it('answers nothing to nothing and passes its own rate through', () => {
    expect(resample(new Float32Array(), 44_100, 16_000)).toEqual([]);
    expect(resample(Float32Array.of(0.5, -0.5), 16_000, 16_000)).toEqual([0.5, -0.5]);
  });
});
