import { afterEach, describe, expect, it } from 'vitest';
import type { TranscribeRequest, TranscriptEvent } from '#engine/speech';
import { sendJson, startEngine, type Answer, type TestEngine } from './engine.fixture.js';
import { openRemoteTranscriber } from './remote-transcriber.js';

const models: Answer = (response) => sendJson(response, { data: [{ id: 'whisper-large-v3' }] });
const audio = Uint8Array.of(1, 2, 3);

describe('openRemoteTranscriber', () => {
  let engine: TestEngine | undefined;
  afterEach(() => engine?.close());

  async function transcribe(
    answer: Answer,
    request: Partial<TranscribeRequest> = {},
  ): Promise<TranscriptEvent[]> {
    engine = await startEngine({
      '/v1/models': models,
      '/v1/audio/transcriptions': answer,
      '/v1/audio/translations': answer,
    });
    const transcriber = await openRemoteTranscriber({ endpoint: `${engine.url}/v1/`, apiKey: 'key' });
    const events: TranscriptEvent[] = [];
    for await (const event of transcriber.transcribe({ audio, ...request })) events.push(event);
    return events;
  }

  it('sends the file as a form, and gives each segment its words', async () => {
    const events = await transcribe(
      (response) =>
        sendJson(response, {
          text: ' One two.',
          language: 'english',
          duration: '2.5',
          segments: [
            { id: 0, start: 0, end: 1, text: ' One', tokens: [5], avg_logprob: -0.5, no_speech_prob: 0.1 },
            { id: 1, start: 1, end: 2, text: ' two.' },
            { id: 2, start: 2, end: 2.5, text: ' ' },
          ],
          words: [
            { word: ' One', start: 0.2, end: 0.8 },
            { word: 'two', start: 1.2, end: 1.8 },
          ],
        }),
      { filename: 'a.wav', language: 'en', prompt: 'Numbers', temperature: 0.2, details: true },
    );
    const form = engine?.requests.at(-1)?.form;
    expect(engine?.requests.at(-1)?.headers.authorization).toBe('Bearer key');
    const file = form?.get('file') as File;
    expect([...new Uint8Array(await file.arrayBuffer())]).toEqual([1, 2, 3]);
    expect(form?.getAll('timestamp_granularities[]')).toEqual(['segment', 'word']);
    expect(
      Object.fromEntries([...(form ?? [])].filter(([, value]) => typeof value === 'string')),
    ).toMatchObject({
      model: 'whisper-large-v3',
      response_format: 'verbose_json',
      language: 'en',
      prompt: 'Numbers',
      temperature: '0.2',
    });
    expect(events).toMatchObject([
      { kind: 'audio', seconds: 2.5, language: 'english', ignored: [] },
      {
        kind: 'segment',
        segment: { id: 0, text: 'One', tokens: [5], avgLogprob: -0.5, words: [{ word: 'One' }] },
      },
      { kind: 'segment', segment: { id: 1, text: 'two.', tokens: [], words: [{ word: 'two' }] }, done: 2 },
    ]);
    expect(events).toHaveLength(3);
  });

  it('makes one segment of a plain answer, and translates', async () => {
    const events = await transcribe((response) => sendJson(response, { text: 'Hello.' }), {
      task: 'translate',
      language: 'de',
    });
    expect(events[1]).toMatchObject({ segment: { id: 0, start: 0, end: 0, text: 'Hello.' } });
    expect(engine?.requests.at(-1)?.path).toBe('/v1/audio/translations');
    expect(engine?.requests.at(-1)?.form?.has('language')).toBe(false);
  });

  it("passes the engine's refusals on", async () => {
    const refuse: Answer = (response) =>
      sendJson(response, { error: { message: 'Invalid file format.' } }, 400);
    await expect(transcribe(refuse)).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'Invalid file format.',
    });
  });

  it('refuses a model that the engine has not', async () => {
    engine = await startEngine({ '/v1/models': models });
    const opening = openRemoteTranscriber({ endpoint: engine.url, model: 'other' });
    await expect(opening).rejects.toMatchObject({ code: 'model_not_found', message: /whisper-large-v3/ });
  });
});
