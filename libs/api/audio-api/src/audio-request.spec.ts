import { describe, expect, it } from 'vitest';
import { parseAudioForm } from './audio-request.js';

const audio = { bytes: new Uint8Array(4), filename: 'a.wav', mimeType: 'audio/wav' };
const parse = (fields: Record<string, string | string[]>) => parseAudioForm({ audio, fields }, 'transcribe');

describe('the form of a transcription', () => {
  const names = ['model', 'language', 'prompt', 'temperature', 'response_format', 'stream', 'include'];
  it.each(['', ' ', 'null', 'undefined', 'None'])('takes %j as unset in every field', (text) => {
    const fields = Object.fromEntries(names.map((name) => [name, text]));
    expect(parse({ ...fields, timestamp_granularities: [text] })).toEqual(parse({}));
  });

  it('takes the language auto as unset', () => {
    expect(parse({ language: 'auto' })).toEqual(parse({}));
  });

  it('keeps what is set', () => {
    const fields = { model: 'whisper-1', language: 'en', prompt: 'undefined behavior', temperature: '0' };
    expect(
      parse({ ...fields, response_format: 'verbose_json', timestamp_granularities: ['word', ''] }),
    ).toMatchObject({
      transcription: { model: 'whisper-1', language: 'en', prompt: 'undefined behavior', temperature: 0 },
      words: true,
      segments: false,
    });
  });

  it.each([
    [{ language: 'e' }, 'language'],
    [{ response_format: 'xml' }, 'response_format'],
    [{ temperature: 'hot' }, 'temperature'],
  ])('refuses %j', (fields, param) => {
    expect(() => parse(fields)).toThrow(expect.objectContaining({ status: 400, param }));
  });
});
