import { loadProfile, readEnvironment } from '#platform/service-kit';
import { createTemporaryDirectory } from '#platform/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HubServer } from '../../../test/support/hub-server.js';
import { asrEnvironmentSchema } from './asr.environment.js';
import { openTranscriber } from './open-transcriber.js';

let folder: { path: string; remove(): Promise<void> };
let hub: HubServer;

beforeAll(async () => {
  folder = await createTemporaryDirectory();
  hub = await HubServer.start(folder.path);
});
afterAll(async () => {
  await hub.close();
  await folder.remove();
});

it.each(['whisper', 'openai/whisper-colossal'])('says which models work in place of %s', async (model) => {
  const environment = readEnvironment(asrEnvironmentSchema, {
    MEGANEST_DATA_DIR: folder.path,
    HF_ENDPOINT: hub.url,
    ASR_MODEL_ID: model,
  });
  const opened = openTranscriber(environment, loadProfile('bundled'));
  await expect(opened).rejects.toThrow(/^ASR_MODEL_ID: .*Supported models: nano-asr .*openai\/whisper-tiny/);
});
