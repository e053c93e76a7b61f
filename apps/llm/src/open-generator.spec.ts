import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { GenerationEvent } from '#generation';
import { projectRoot } from '#paths';
import { loadProfile, readEnvironment } from '#service-kit';
import { createTemporaryDirectory } from '#testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HubServer } from '../../../test/support/hub-server.js';
import { llmEnvironmentSchema } from './llm.environment.js';
import { selectSettings } from './llm.settings.js';
import { openGenerator } from './open-generator.js';

let folder: { path: string; remove(): Promise<void> };
let hub: HubServer;

/** A hub that has one model, under a name of its own. */
beforeAll(async () => {
  folder = await createTemporaryDirectory();
  const model = join(folder.path, 'hub/acme/tiny-chat');
  await cp(join(projectRoot, 'models/nano-chat'), model, { recursive: true });
  hub = await HubServer.start(join(folder.path, 'hub'));
});
afterAll(async () => {
  await hub.close();
  await folder.remove();
});

const profile = loadProfile('bundled');
const environmentOf = (variables: NodeJS.ProcessEnv) =>
  readEnvironment(llmEnvironmentSchema, { MEGANEST_DATA_DIR: folder.path, DEVICE: 'cpu', ...variables });

it('fetches the model of the hub that LLM_MODEL_ID names, in every profile', async () => {
  const environment = environmentOf({
    LLM_MODEL_ID: 'acme/tiny-chat',
    HF_ENDPOINT: hub.url,
    HF_TOKEN: 'secret',
  });
  const generator = await openGenerator(environment, profile);
  expect(generator.info.id).toBe('acme/tiny-chat');
  expect(hub.requests.map(({ authorization }) => authorization)).toContain('Bearer secret');
  await generator.close();
});

it.each([
  ['0', 0],
  [undefined, 64],
])('keeps prefixes within LLM_PREFIX_CACHE_BYTES: %s', async (bytes, cachedTokens) => {
  const generator = await openGenerator(environmentOf({ LLM_PREFIX_CACHE_BYTES: bytes }), profile);
  const parameters = { max_tokens: 1, temperature: 0 };
  let last: GenerationEvent | undefined;
  for (let count = 0; count < 2; count += 1)
    for await (const event of generator.generate({ messages: 'word '.repeat(100), parameters })) last = event;
  expect(last?.usage?.cachedTokens).toBe(cachedTokens);
  await generator.close();
});

it("asks another model in another way than the profile's own", () => {
  expect(selectSettings(profile, environmentOf({}))).toBe(profile.llm);
  expect(selectSettings(profile, environmentOf({ LLM_MODEL_ID: 'nano-chat' }))).toBe(profile.llm);
  for (const other of [{ LLM_MODEL_ID: 'acme/tiny-chat' }, { LLM_ENDPOINT: 'http://127.0.0.1:1/v1' }])
    expect(selectSettings(profile, environmentOf(other))).toBe(profile.llm.endpoint);
});
