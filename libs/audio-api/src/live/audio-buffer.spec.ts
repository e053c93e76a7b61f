import { describe, expect, it } from 'vitest';
import { AgreedText } from './agreed-text.js';
import { AudioBuffer, type TurnEvent } from './audio-buffer.js';
import { updatedSettings, usualSettings } from './live-settings.js';

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

describe('AgreedText', () => {
  it('tells words when two hypotheses agree on them, and the rest at the end', () => {
    const text = new AgreedText();
    expect(['which', 'which part', 'which port does', 'which port does'].map((one) => text.add(one))).toEqual(
      ['', 'which', '', ' port does'],
    );
    expect(text.finish('which port does the gateway')).toBe(' the gateway');
    expect(text.finish('which port')).toBe('');
  });

  it('takes nothing back', () => {
    const text = new AgreedText();
    text.add('a b');
    expect(text.add('a b')).toBe('a b');
    expect(text.add('a c d')).toBe('');
    expect(text.add('a c d')).toBe('');
    expect(text.finish('a c d')).toBe('');
  });
});

describe('updatedSettings', () => {
  it('takes both spellings, and keeps what is not mentioned', () => {
    const ga = updatedSettings(
      usualSettings,
      {
        type: 'transcription',
        audio: {
          input: {
            format: { type: 'audio/pcm', rate: 16_000 },
            transcription: { model: 'm', language: 'en', prompt: 'Ports' },
            turn_detection: { type: 'server_vad', threshold: 0.7, silence_duration_ms: 800 },
            noise_reduction: { type: 'near_field' },
          },
        },
        include: ['item.input_audio_transcription.logprobs'],
      },
      'ga',
    );
    const turns = { threshold: 0.7, prefixMs: 300, silenceMs: 800 };
    const common = { model: 'm', language: 'en', prompt: 'Ports', logprobs: true };
    expect(ga).toEqual({
      settings: { ...common, rate: 16_000, turns },
      ignored: ['audio.input.noise_reduction'],
    });
    const beta = updatedSettings(ga.settings, { input_audio_format: 'pcm16', turn_detection: null }, 'beta');
    expect(beta).toEqual({ settings: { ...common, rate: 24_000, turns: undefined }, ignored: [] });
    expect(updatedSettings(ga.settings, { type: 'transcription' }, 'ga').settings).toEqual(ga.settings);
  });

  it('names what has no effect, and nothing that is null', () => {
    const named = updatedSettings(
      usualSettings,
      {
        type: 'transcription',
        instructions: 'Sing',
        tracing: null,
        audio: {
          output: { voice: 'x' },
          input: {
            format: { type: 'audio/pcm', channels: 2 },
            transcription: { model: 'm', delay: 'low' },
            turn_detection: { create_response: false, idle_timeout_ms: 5_000 },
            noise_reduction: null,
          },
        },
      },
      'ga',
    );
    expect(named.ignored).toEqual([
      'audio.input.transcription.delay',
      'audio.input.turn_detection.create_response',
      'audio.input.turn_detection.idle_timeout_ms',
      'audio.input.format.channels',
      'audio.output',
      'instructions',
    ]);
    const beta = {
      input_audio_noise_reduction: { type: 'near_field' },
      turn_detection: { eagerness: 'low' },
    };
    expect(updatedSettings(usualSettings, beta, 'beta').ignored).toEqual([
      'turn_detection.eagerness',
      'input_audio_noise_reduction',
    ]);
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`${n}`.padEnd(1_000), true]));
    expect(updatedSettings(usualSettings, many, 'beta').ignored.join('').length).toBeLessThan(4_000);
  });

  it('turns logprobs off where include is null, and takes an empty model for none', () => {
    const before = { ...usualSettings, logprobs: true, model: 'm' };
    const update = (session: object) => updatedSettings(before, session, 'beta').settings;
    expect(update({ include: null }).logprobs).toBe(false);
    expect(update({ include: [] }).logprobs).toBe(false);
    expect(update({}).logprobs).toBe(true);
    expect(update({ input_audio_transcription: { model: '' } }).model).toBeUndefined();
    expect(() => update({ input_audio_transcription: { model: 'm'.repeat(1_001) } })).toThrow(
      expect.objectContaining({ param: 'session.input_audio_transcription.model' }),
    );
  });

  it.each([
    [{ type: 'realtime' }, 'session.type'],
    [{ type: 'transcription', audio: { input: { transcription: null } } }, 'input.transcription'],
    [
      { type: 'transcription', audio: { input: { turn_detection: { type: 'semantic_vad' } } } },
      'turn_detection.type',
    ],
    [{ type: 'transcription', audio: { input: { format: { type: 'audio/pcmu' } } } }, 'format.type'],
    [undefined, 'session'],
  ])('refuses %j', (session, param) => {
    expect(() => updatedSettings(usualSettings, session, 'ga')).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: expect.stringContaining(param) as string }),
    );
  });
});
