import { describe, expect, it } from 'vitest';
import { updatedSettings, defaultSettings } from './live-settings.js';

describe('updatedSettings', () => {
  it('takes both spellings, and keeps what is not mentioned', () => {
    const ga = updatedSettings(
      defaultSettings,
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

  it.each(['ga', 'beta'] as const)('changes the fields that it mentions and no others (%s)', (dialect) => {
    const before = {
      model: 'm',
      language: 'en',
      prompt: 'Ports',
      rate: 16_000,
      logprobs: true,
      turns: { threshold: 0.7, prefixMs: 100, silenceMs: 800 },
    };
    const after = (input: { transcription?: object; turn_detection?: object; format?: object }) => {
      const { transcription: input_audio_transcription, turn_detection } = input;
      const session =
        dialect === 'ga'
          ? { type: 'transcription', audio: { input } }
          : { input_audio_transcription, turn_detection };
      return updatedSettings(before, session, dialect).settings;
    };
    expect(after({})).toEqual(before);
    expect(after({ transcription: {}, turn_detection: {}, format: { type: 'audio/pcm' } })).toEqual(before);
    expect(after({ transcription: { language: 'de' } })).toEqual({ ...before, language: 'de' });
    expect(after({ transcription: { model: 'n', prompt: null } })).toEqual({
      ...before,
      model: 'n',
      prompt: undefined,
    });
    expect(after({ transcription: { language: null, prompt: '' } })).toEqual({
      ...before,
      language: undefined,
      prompt: undefined,
    });
    expect(after({ turn_detection: { silence_duration_ms: 200 } })).toEqual({
      ...before,
      turns: { ...before.turns, silenceMs: 200 },
    });
    expect(after({ turn_detection: { threshold: 0, prefix_padding_ms: 0 } }).turns).toEqual({
      threshold: 0,
      prefixMs: 0,
      silenceMs: 800,
    });
  });

  it('starts with the default turn rules', () => {
    const before = { ...defaultSettings, turns: undefined };
    const { settings } = updatedSettings(before, { turn_detection: { threshold: 0.9 } }, 'beta');
    expect(settings.turns).toEqual({ threshold: 0.9, prefixMs: 300, silenceMs: 500 });
  });

  it('names what has no effect, and nothing that is null', () => {
    const named = updatedSettings(
      defaultSettings,
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
    expect(updatedSettings(defaultSettings, beta, 'beta').ignored).toEqual([
      'turn_detection.eagerness',
      'input_audio_noise_reduction',
    ]);
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`${n}`.padEnd(1_000), true]));
    expect(updatedSettings(defaultSettings, many, 'beta').ignored.join('').length).toBeLessThan(4_000);
  });

  it('turns logprobs off where include is null, and takes an empty model for none', () => {
    const before = { ...defaultSettings, logprobs: true, model: 'm' };
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
    expect(() => updatedSettings(defaultSettings, session, 'ga')).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: expect.stringContaining(param) as string }),
    );
  });
});
