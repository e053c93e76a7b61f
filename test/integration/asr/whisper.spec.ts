import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createTemporaryDirectory,
  repositoryRoot,
  startNats,
  startService,
  type TestNats,
  type TestService,
} from '#platform/testing';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendLive } from '../../support/live-audio.js';
import { tinyWhisper, writeWhisperModel } from '../../support/whisper-model.js';

const key = 'secret-of-the-test';
const authorization = `Bearer ${key}`;
const question = readFileSync(join(repositoryRoot, 'test/fixtures/asr/question.wav'));

describe('the asr service with a Whisper model', () => {
  let directory: Awaited<ReturnType<typeof createTemporaryDirectory>>;
  let nats: TestNats;
  let service: TestService;

  beforeAll(async () => {
    directory = await createTemporaryDirectory();
    const model = join(directory.path, 'tiny-whisper');
    await writeWhisperModel(model, tinyWhisper, { seed: 3 });
    nats = await startNats();
    const environment = { ASR_MODEL_ID: model, ASR_WORKERS: '1', MEGANEST_DATA_DIR: directory.path };
    service = await startService('asr', { NATS_URL: nats.url, API_KEYS: key, ...environment });
  });

  afterAll(async () => {
    await service?.stop();
    await nats?.stop();
    await directory?.remove();
  });

  const file = () => toFile(question, 'question.wav');

  it('transcribes with segments, words and probabilities, and translates', async () => {
    const client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: key, maxRetries: 0 });
    const common = { model: 'tiny-whisper', temperature: 0.001 } as const;
    const [verbose, plain, translated] = await Promise.all([
      client.audio.transcriptions.create({
        ...common,
        file: await file(),
        language: 'de',
        response_format: 'verbose_json',
        timestamp_granularities: ['word', 'segment'],
      }),
      client.audio.transcriptions.create({
        ...common,
        file: await file(),
        language: 'de',
        include: ['logprobs'],
      }),
      client.audio.translations.create({ ...common, file: await file(), response_format: 'json' }),
    ]);
    expect(verbose.language).toBe('german');
    expect(verbose.words?.length).toBeGreaterThan(0);
    for (const segment of verbose.segments ?? []) {
      expect(segment.avg_logprob).toBeLessThan(0);
      expect(segment.compression_ratio).toBeGreaterThan(0);
      expect(segment.no_speech_prob).toBeLessThan(1);
    }
    expect(plain.text).toBe(verbose.text);
    expect(plain.logprobs?.length).toBeGreaterThan(0);
    expect(translated.text).not.toBe(plain.text);
  });

  describe('live', () => {
    it('writes down what comes in pieces, as OpenAI would', async () => {
      const events = await sendLive(service.url, question, 16_000, { headers: { authorization } });
      const types = events.map(({ type }) => type);
      expect(types[0]).toBe('session.created');
      expect(types).toContain('input_audio_buffer.speech_started');
      expect(events.at(-1)).toMatchObject({
        type: 'conversation.item.input_audio_transcription.completed',
        transcript: expect.stringMatching(/\S/) as string,
      });
    });

    it.each([
      ['/v1/realtime?intent=transcription', 405],
      ['/v1/realtime', 405],
    ])('refuses GET %s without an upgrade', async (path, status) => {
      expect((await fetch(`${service.url}${path}`, { headers: { authorization } })).status).toBe(status);
    });

    it('refuses conversations, foreign pages, and whoever has no key', async () => {
      await expect(
        sendLive(service.url, question, 16_000, {
          path: '/v1/realtime?intent=conversation',
          headers: { authorization },
        }),
      ).rejects.toThrow('400');
      await expect(sendLive(service.url, question, 16_000)).rejects.toThrow('401');
      const headers = { authorization, origin: 'https://elsewhere.example' };
      await expect(sendLive(service.url, question, 16_000, { headers })).rejects.toThrow('403');
    });
  });
});
