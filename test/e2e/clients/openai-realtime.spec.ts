import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { startNats, startService, type TestNats, type TestService } from '#platform/testing';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordClient } from '../../support/client-matrix.js';

recordClient({ client: 'openai (JavaScript), live audio', name: 'openai' });

let nats: TestNats;
let asr: TestService;

beforeAll(async () => {
  nats = await startNats();
  asr = await startService('asr', { NATS_URL: nats.url });
});
afterAll(async () => {
  await asr?.stop();
  await nats?.stop();
});

/** The class speaks TLS alone: its socket is given a plain connection in the place of one. */
function openRealtime(model: string): OpenAIRealtimeWS {
  const { hostname, port } = new URL(asr.url);
  const createConnection = () => connect(Number(port), hostname);
  const client = new OpenAI({ baseURL: `${asr.url}/v1`, apiKey: 'none' });
  return new OpenAIRealtimeWS({ model, options: { createConnection } }, client);
}

const audioFile = new URL('../../fixtures/asr/question.wav', import.meta.url);

describe("OpenAI's class for live audio", () => {
  it('gets transcripts, though it sends no intent', async () => {
    const wav = await readFile(audioFile);
    const realtime = openRealtime('nano-asr');
    const transcript = new Promise<string>((resolve, reject) => {
      realtime.on('conversation.item.input_audio_transcription.completed', (event) =>
        resolve(event.transcript),
      );
      realtime.on('error', reject);
    });
    realtime.on('session.created', () => {
      const format = { type: 'audio/pcm' as const, rate: 16_000 };
      const session = { type: 'transcription', audio: { input: { format, turn_detection: null } } };
      realtime.send({ type: 'session.update', session } as never);
      realtime.send({ type: 'input_audio_buffer.append', audio: wav.subarray(44).toString('base64') });
      realtime.send({ type: 'input_audio_buffer.commit' });
    });
    expect(await transcript).toMatch(/\S/);
    realtime.close();
  });

  it('is refused a model of conversations', async () => {
    const realtime = openRealtime('gpt-realtime');
    const refused = new Promise<Error>((resolve) => realtime.on('error', resolve));
    expect((await refused).message).toContain('404');
  });
});
