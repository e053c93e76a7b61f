import { beforeAll, describe, expect, it } from 'vitest';
import { Flite, fliteSampleRate } from './flite.js';
import { fliteVoiceOf, fliteVoices } from './flite-synthesizer.js';

describe('Flite', () => {
  let flite: Flite;
  beforeAll(async () => {
    flite = await Flite.load();
  });

  const seconds = (samples: Float32Array) => samples.length / fliteSampleRate;

  it.each(fliteVoices)('speaks with the voice %s', (voice) => {
    const samples = flite.speak('The quick brown fox jumps over the lazy dog.', voice, 1);
    // People need 2 to 4 seconds for it.
    expect(seconds(samples)).toBeGreaterThan(1.5);
    expect(seconds(samples)).toBeLessThan(5);
    expect(Math.max(...samples)).toBeGreaterThan(0.1);
  });

  it('speaks twice as fast at speed 2', () => {
    const usual = flite.speak('One two three four five six seven.', 'rms', 1);
    const fast = flite.speak('One two three four five six seven.', 'rms', 2);
    // Silence at both ends keeps its length.
    expect(seconds(fast) / seconds(usual)).toBeGreaterThan(0.4);
    expect(seconds(fast) / seconds(usual)).toBeLessThan(0.7);
  });

  it('takes text as text: neither options nor markup reach the program', () => {
    const samples = flite.speak('-voice nobody <break/> --help', 'rms', 1);
    expect(seconds(samples)).toBeGreaterThan(0.5);
  });
});

describe('fliteVoiceOf', () => {
  it("knows its own names and OpenAI's", () => {
    expect([fliteVoiceOf(), fliteVoiceOf('slt'), fliteVoiceOf('nova')]).toEqual(['rms', 'slt', 'slt']);
  });

  it.each(['nobody', 'constructor', '../etc'])('refuses %s and lists the voices', (name) => {
    expect(() => fliteVoiceOf(name)).toThrow(/is not a voice of this model. Voices: rms, slt/);
  });
});
