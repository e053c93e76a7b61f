import { describe, expect, it } from 'vitest';
import { LocalAgreement } from './live-turns.js';
import { AudioBuffer, type TurnEvent } from './audio-buffer.js';

const rate = 8_000;
const rules = { threshold: 0.5, prefixMs: 100, silenceMs: 300 };

/** Milliseconds of a tone, of full scale times `level`. */
function tone(milliseconds: number, level: number): Int16Array {
  return Int16Array.from({ length: (milliseconds * rate) / 1000 }, (_, n) => 32_000 * level * Math.sin(n));
}

/** The events of parts that come in pieces of 37 samples. */
function eventsOf(buffer: AudioBuffer, parts: readonly Int16Array[]): TurnEvent[] {
  return parts.flatMap((part) =>
    Array.from({ length: Math.ceil(part.length / 37) }, (_, index) =>
      buffer.push(part.slice(index * 37, index * 37 + 37)),
    ).flat(),
  );
}

describe('AudioBuffer', () => {
  it('tells turns apart, with what came right before them', () => {
    const buffer = new AudioBuffer(rate, rules);
    const events = eventsOf(buffer, [
      tone(500, 0.002),
      tone(400, 0.5),
      tone(600, 0.002),
      tone(300, 0.3),
      tone(500, 0.002),
    ]);
    expect(events).toMatchObject([
      { kind: 'started', at: 400 },
      { kind: 'stopped', at: 1200 },
      { kind: 'started', at: 1400 },
      { kind: 'stopped', at: 2100 },
    ]);
    const [, first] = events;
    expect(first?.kind === 'stopped' && first.samples).toHaveLength(0.8 * rate);
    expect(buffer.isSpeaking).toBe(false);
  });

  it('hears nothing in steady noise or short clicks, and cuts what never pauses', () => {
    const noisy = new AudioBuffer(rate, rules);
    expect(eventsOf(noisy, [tone(3_000, 0.001), tone(20, 0.5), tone(1_000, 0.001)])).toEqual([]);
    const endless = eventsOf(
      new AudioBuffer(rate, rules),
      Array.from({ length: 8 }, () => [tone(4_000, 0.5), tone(60, 0.01)]).flat(),
    );
    expect(endless[1]).toMatchObject({ kind: 'stopped', at: 30_000 });
  });

  it('keeps everything without rules until it is taken', () => {
    const buffer = new AudioBuffer(rate, undefined);
    expect(eventsOf(buffer, [tone(1_000, 0.5), tone(1_010, 0)])).toEqual([]);
    expect(buffer.milliseconds).toBeCloseTo(2_010, 5);
    expect(buffer.take()).toHaveLength(16_080);
    expect(buffer.milliseconds).toBe(0);
  });
});

describe('AudioBuffer.change', () => {
  it('keeps the time and the level of the quiet', () => {
    const buffer = new AudioBuffer(rate, rules);
    // Steady noise, whose level has to be learned anew by a buffer that knows nothing of it.
    const noise = tone(10_010, 0.02);
    expect(buffer.push(noise).filter(({ kind }) => kind === 'started').length).toBeLessThanOrEqual(1);
    buffer.take();
    buffer.change(2 * rate, { ...rules, threshold: 0.6 });
    expect(buffer.push(new Int16Array(2 * tone(200, 0).length).fill(650))).toEqual([]);
    const [started] = buffer.push(new Int16Array(2 * tone(200, 0).length).fill(16_000));
    expect(started).toEqual({ kind: 'started', at: 10_110 });
  });

  it('keeps what waits, unless it has another rate', () => {
    const buffer = new AudioBuffer(rate, rules);
    buffer.push(tone(90, 0.001));
    buffer.change(rate, undefined);
    buffer.push(tone(500, 0.001));
    expect(buffer.milliseconds).toBe(590);
    buffer.change(2 * rate, undefined);
    expect(buffer.milliseconds).toBe(0);
  });
});

describe('LocalAgreement', () => {
  it('tells words when two hypotheses agree on them, and the rest at the end', () => {
    const text = new LocalAgreement();
    expect(['which', 'which part', 'which port does', 'which port does'].map((one) => text.add(one))).toEqual(
      ['', 'which', '', ' port does'],
    );
    expect(text.finish('which port does the gateway')).toBe(' the gateway');
    expect(text.finish('which port')).toBe('');
  });

  it('takes nothing back', () => {
    const text = new LocalAgreement();
    text.add('a b');
    expect(text.add('a b')).toBe('a b');
    expect(text.add('a c d')).toBe('');
    expect(text.add('a c d')).toBe('');
    expect(text.finish('a c d')).toBe('');
  });
});
