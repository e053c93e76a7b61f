import { describe, expect, it } from 'vitest';
import { parseAudioForm } from './audio-request.js';
import { decodeBase64 } from './asr.controller.js';
import { formatTranscript, transcriptionSchema, verboseTranscriptionSchema } from './transcript-formats.js';

const segment = (id: number, start: number, end: number, text: string) => ({
  id,
  start,
  end,
  text,
  tokens: [7],
  avgLogprob: -0.25,
  temperature: 0,
  words: [{ word: text, start, end }],
  logprobs: [{ token: text, logprob: -0.25 }],
});
const transcript = {
  audio: { model: 'm', seconds: 3725.5, language: 'en', ignored: [] },
  segments: [segment(0, 0.25, 1.5, 'good'), segment(1, 3_661.007, 3_725.4996, 'grüße')],
  text: 'good grüße',
};
const wishes = { task: 'transcribe' as const, words: false, segments: true, logprobs: false };

describe('formatTranscript', () => {
  it('writes times of subtitles with hours and milliseconds', () => {
    expect(formatTranscript(transcript, { ...wishes, format: 'srt' })).toBe(
      '1\n00:00:00,250 --> 00:00:01,500\ngood\n\n2\n01:01:01,007 --> 01:02:05,500\ngrüße\n\n',
    );
    expect(formatTranscript(transcript, { ...wishes, format: 'vtt' })).toBe(
      'WEBVTT\n\n00:00:00.250 --> 00:00:01.500\ngood\n\n01:01:01.007 --> 01:02:05.500\ngrüße\n\n',
    );
  });

  it('writes what its schemas say', () => {
    const json = formatTranscript(transcript, { ...wishes, format: 'json', logprobs: true });
    expect(transcriptionSchema.parse(json)).toEqual(json);
    expect(json).toMatchObject({ logprobs: [{}, { token: 'grüße', bytes: [...Buffer.from('grüße')] }] });
    const verbose = formatTranscript(transcript, { ...wishes, format: 'verbose_json', words: true });
    expect(verboseTranscriptionSchema.parse(verbose)).toEqual(verbose);
    expect(verbose).toMatchObject({ language: 'english', duration: 3725.5, words: [{}, { word: 'grüße' }] });
  });

  it('leaves out what was not asked for', () => {
    const verbose = formatTranscript(transcript, { ...wishes, format: 'verbose_json', segments: false });
    expect(verbose).not.toHaveProperty('segments');
    expect(verbose).not.toHaveProperty('words');
  });
});

describe('parseAudioForm', () => {
  const audio = { bytes: new Uint8Array(1), filename: 'a.wav', mimeType: 'audio/wav' };
  const parse = (fields: Record<string, string | string[]>) =>
    parseAudioForm({ audio, fields }, 'transcribe');

  it('takes lists, one value for a list, and names what it does not know', () => {
    const request = parse({
      response_format: 'verbose_json',
      timestamp_granularities: ['word'],
      temperature: '0.5',
      chunking_strategy: 'auto',
    });
    expect(request).toMatchObject({ words: true, segments: false, ignored: ['chunking_strategy'] });
    expect(request.transcription).toMatchObject({ temperature: 0.5, details: true });
    const one = parse({ response_format: 'verbose_json', timestamp_granularities: 'segment' });
    expect(one).toMatchObject({ words: false, segments: true, stream: false });
  });

  it('needs a file', () => {
    expect(() => parseAudioForm({ fields: {} }, 'transcribe')).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: 'file' }),
    );
  });
});

describe('decodeBase64', () => {
  const limits = { maxBytes: 4 };
  it('reads plain base64, data URLs and line breaks', () => {
    for (const text of ['AAECAw==', 'data:audio/wav;base64,AAECAw==', 'AAEC\nAw=='])
      expect([...decodeBase64(text, limits).bytes]).toEqual([0, 1, 2, 3]);
  });

  it.each(['', '*', 'AAECA', '===='])('refuses %j', (text) => {
    expect(() => decodeBase64(text, limits)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });

  it('refuses what is too large', () => {
    expect(() => decodeBase64('AAECAwQ=', limits)).toThrow(
      expect.objectContaining({ code: 'payload_too_large' }),
    );
  });
});
