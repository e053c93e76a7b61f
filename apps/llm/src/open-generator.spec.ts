import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GenerationEvent } from '#engine/generation';
import { projectRoot } from '#platform/foundation';
import { loadProfile, readEnvironment } from '#platform/service-kit';
import { createTemporaryDirectory } from '#platform/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HubServer } from '../../../test/support/hub-server.js';
import { llmEnvironmentSchema, selectSettings } from './llm.environment.js';
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
  const { ownModelParameters, ...llm } = profile.llm;
  expect(selectSettings(profile, environmentOf({}))).toEqual(llm);
  expect(selectSettings(profile, environmentOf({ LLM_MODEL_ID: 'nano-chat' }))).toEqual(llm);
  expect(ownModelParameters).toEqual({ repetition_penalty: 1.03 });
  const { grounding } = llm.endpoint!;
  const endpoint = { ...llm.endpoint, grounding: { ...grounding, parameters: ownModelParameters } };
  const other = environmentOf({ LLM_MODEL_ID: 'acme/tiny-chat' });
  expect(selectSettings(profile, other)).toEqual(endpoint);
  const hasty = environmentOf({ LLM_MODEL_ID: 'acme/tiny-chat', LLM_SEARCH_QUERIES_TIMEOUT_MS: '50' });
  expect(selectSettings(profile, hasty)).toEqual({ ...endpoint, searchQueriesTimeoutMs: 50 });
});

it.each(['bundled', 'hub', 'hub-small', 'hub-large'])(
  'sends an engine none of the parameters of the profile %s',
  (name) => {
    const engine = environmentOf({ LLM_ENDPOINT: 'http://127.0.0.1:1/v1' });
    const { parameters, grounding } = selectSettings(loadProfile(name), engine);
    expect(parameters).toEqual({});
    expect(grounding.parameters).toBeUndefined();
    expect(grounding.instructions).toBe(true);
  },
);

it('sends an engine the parameters of the section for engines, and those of LLM_PARAMETERS first', () => {
  const engine = { LLM_ENDPOINT: 'http://127.0.0.1:1/v1' };
  const { endpoint } = profile.llm;
  const grounding = { ...endpoint!.grounding, parameters: { temperature: 0.3 } };
  const own = {
    ...profile,
    llm: { ...profile.llm, endpoint: { ...endpoint!, parameters: { top_p: 0.5 }, grounding } },
  };
  expect(selectSettings(own, environmentOf(engine))).toMatchObject({
    parameters: { top_p: 0.5 },
    grounding: { parameters: { temperature: 0.3 } },
  });
  const LLM_PARAMETERS = '{"temperature": 0.7, "reasoning_effort": "none"}';
  expect(selectSettings(own, environmentOf({ ...engine, LLM_PARAMETERS }))).toMatchObject({
    parameters: { top_p: 0.5, temperature: 0.7 },
    grounding: { parameters: { temperature: 0.7 } },
    templateVariables: { reasoning_effort: 'none', enable_thinking: false },
  });
});

it('takes the permission to use general knowledge from LLM_GENERAL_KNOWLEDGE', () => {
  const engine = { LLM_ENDPOINT: 'http://127.0.0.1:1/v1' };
  expect(selectSettings(profile, environmentOf(engine)).grounding.generalKnowledge).toBeUndefined();
  const allowed = environmentOf({ ...engine, LLM_GENERAL_KNOWLEDGE: 'true' });
  expect(selectSettings(profile, allowed).grounding.generalKnowledge).toBe(true);
});

it.each([
  ['temperature 0.2', /LLM_PARAMETERS.*JSON object/s],
  ['{"temperature": 9}', /LLM_PARAMETERS.*temperature/s],
  ['{"tempature": 1}', /LLM_PARAMETERS.*tempature/s],
])('refuses LLM_PARAMETERS=%s', (LLM_PARAMETERS, message) => {
  expect(() => environmentOf({ LLM_PARAMETERS })).toThrow(message);
});

it('serves the weights that LLM_WEIGHTS names', async () => {
  const backends: string[] = [];
  for (const LLM_WEIGHTS of ['int4', 'fp32', 'auto']) {
    const environment = environmentOf({ LLM_WEIGHTS, LLM_MODEL_ID: 'nano-chat' });
    const generator = await openGenerator(environment, profile);
    backends.push(generator.info.backend ?? '');
    await generator.close();
  }
  expect(backends).toEqual(['int4', 'fp32', 'int8'].map((weights) => `onnx-cpu compiled ${weights}`));
});

it('refuses a model that cannot chat at the start, and says what to do', async () => {
  const base = join(folder.path, 'acme-base');
  await cp(join(projectRoot, 'models/nano-chat'), base, { recursive: true });
  const file = join(base, 'tokenizer_config.json');
  const { chat_template: _template, ...config } = JSON.parse(await readFile(file, 'utf8')) as Record<
    string,
    unknown
  >;
  await writeFile(file, JSON.stringify(config));
  const open = () => openGenerator(environmentOf({ LLM_MODEL_ID: base }), profile);
  await rm(join(base, 'chat_template.jinja'), { force: true });
  await expect(open()).rejects.toThrow(/acme-base has no chat template: it is a base model/);
  await writeFile(join(base, 'chat_template.jinja'), "{{ raise_exception('only tools here') }}");
  await expect(open()).rejects.toThrow(/acme-base cannot chat: .*only tools here/);
});

it.each(['/models/x.Q4_K_M.gguf', 'hf.co/acme/tiny:Q4_K_M', 'acme/tiny-GGUF', 'ollama:llama3.2'])(
  'refuses the GGUF model %s with the way to use it',
  async (model) => {
    const opened = openGenerator(environmentOf({ LLM_MODEL_ID: model }), profile);
    await expect(opened).rejects.toThrow(/GGUF, which MegaNest does not read.*LLM_ENDPOINT=/);
  },
);

it.each([
  [
    { LLM_WEIGHTS: 'int4', LLM_ENDPOINT: 'http://127.0.0.1:1/v1' },
    /^LLM_WEIGHTS: applies only to a local model/,
  ],
  [{ LLM_WEIGHTS: 'int8', DEVICE: 'webgpu' }, /^LLM_WEIGHTS: int8 runs on the processor; DEVICE is webgpu/],
  [{ LLM_WEIGHTS: 'int4', LLM_WEIGHTS_BLOCK: 'row' }, /^LLM_WEIGHTS_BLOCK: row is for int8 weights/],
  [
    { LLM_WEIGHTS: 'fp32', LLM_WEIGHTS_BLOCK: '32' },
    /^LLM_WEIGHTS_BLOCK: needs LLM_WEIGHTS=int4, int8 or auto/,
  ],
])('refuses weights that would have no effect: %o', async (variables, message) => {
  await expect(openGenerator(environmentOf(variables), profile)).rejects.toThrow(message);
});

it.each(['int5', 'INT4'])('refuses LLM_WEIGHTS=%s with the values that it can have', (LLM_WEIGHTS) => {
  expect(() => environmentOf({ LLM_WEIGHTS })).toThrow(/LLM_WEIGHTS.*int4.*int8.*fp32/s);
});
