import { createReadStream, existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { projectRoot } from '#paths';
import { loadProfile, readEnvironment } from '#service-kit';
import { createTemporaryDirectory } from '#testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { llmEnvironmentSchema } from './llm.environment.js';
import { selectSettings } from './llm.settings.js';
import { openGenerator } from './open-generator.js';

let folder: { path: string; remove(): Promise<void> };
let hub: Server;
let authorization: string | undefined;

/** A hub that has one model, under a name of its own. */
beforeAll(async () => {
  folder = await createTemporaryDirectory();
  hub = createServer((request, response) => {
    authorization = request.headers.authorization;
    const file = request.url!.replace('/acme/tiny-chat/resolve/main', join(projectRoot, 'models/nano-chat'));
    if (existsSync(file)) createReadStream(file).pipe(response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => hub.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  hub.close();
  await folder.remove();
});

const profile = loadProfile('bundled');
const environmentOf = (variables: NodeJS.ProcessEnv) =>
  readEnvironment(llmEnvironmentSchema, { MEGANEST_DATA_DIR: folder.path, DEVICE: 'cpu', ...variables });

it('fetches the model of the hub that LLM_MODEL_ID names, in every profile', async () => {
  const environment = environmentOf({
    LLM_MODEL_ID: 'acme/tiny-chat',
    HF_ENDPOINT: `http://127.0.0.1:${(hub.address() as AddressInfo).port}`,
    HF_TOKEN: 'secret',
  });
  const generator = await openGenerator(environment, profile);
  expect(generator.info.id).toBe('acme/tiny-chat');
  expect(authorization).toBe('Bearer secret');
  await generator.close();
});

it("asks another model in another way than the profile's own", () => {
  expect(selectSettings(profile, environmentOf({}))).toBe(profile.llm);
  expect(selectSettings(profile, environmentOf({ LLM_MODEL_ID: 'nano-chat' }))).toBe(profile.llm);
  for (const other of [{ LLM_MODEL_ID: 'acme/tiny-chat' }, { LLM_ENDPOINT: 'http://127.0.0.1:1/v1' }])
    expect(selectSettings(profile, environmentOf(other))).toBe(profile.llm.endpoint);
});
