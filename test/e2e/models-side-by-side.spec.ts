import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTemporaryDirectory, type TestService } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEngineStack, type EngineStack } from './helpers/engine-stack.js';
import {
  engineModel,
  startScriptedEngine,
  type EngineBody,
  type ScriptedEngine,
} from './helpers/scripted-engine.js';

const secondModel = 'scripted-2';
let stack: EngineStack;
let second: ScriptedEngine;
let secondLlm: TestService;
let directory: Awaited<ReturnType<typeof createTemporaryDirectory>>;

beforeAll(async () => {
  directory = await createTemporaryDirectory();
  const define = (name: string, llm: string) =>
    writeFile(
      join(directory.path, `${name}.yaml`),
      `name: ${name}\ndescription: A test.\nnodes:\n  llm: { service: llm, ${llm} }\n`,
    );
  await define('plain', 'stream: true');
  await define('pinned', `stream: true, params: { model: ${engineModel} }`);
  await mkdir(join(directory.path, 'engines'));
  const env = {
    ENGINES_DIR: join(directory.path, 'engines'),
    MEGASERVICES_DIR: directory.path,
    DEFAULT_MEGASERVICE: 'plain',
    DEFAULT_MODEL: secondModel,
    MODEL_ALIASES: 'usual',
  };
  [stack, second] = await Promise.all([startEngineStack({ env }), startScriptedEngine({ id: secondModel })]);
  secondLlm = await stack.startLlm(second);
});
afterAll(async () => {
  await stack?.stop();
  second?.close();
  await directory?.remove();
});

const ask = async (model: string | undefined, text = 'hi') => {
  const response = await stack.post('/v1/chat/completions', {
    model,
    messages: [{ role: 'user', content: text }],
  });
  return { status: response.status, headers: response.headers, body: await response.text() };
};

/** How often each engine was asked for what. */
const askedFor = (text: string) => {
  const count = ({ asked }: ScriptedEngine) =>
    asked.filter(({ messages }: EngineBody) => JSON.stringify(messages).includes(`"${text}"`)).length;
  return [count(stack.engine), count(second)];
};

it('lists the models of both deployments, each once', async () => {
  const answer = (await (await fetch(`${stack.gateway.url}/v1/models`)).json()) as { data: { id: string }[] };
  const ids = answer.data.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining([engineModel, secondModel]));
  expect(new Set(ids).size).toBe(ids.length);
  const unknown = await ask('scripted-3');
  expect([unknown.status, unknown.body]).toEqual([404, expect.stringContaining('scripted-1, scripted-2')]);
});

it('gives each request to the model that it names', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_unused, index) =>
      ask(index % 2 ? secondModel : engineModel, `turn ${index % 2}`),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect([askedFor('turn 0'), askedFor('turn 1')]).toEqual([
    [10, 0],
    [0, 10],
  ]);
  for (const model of [engineModel, secondModel]) {
    const response = await stack.post('/v1/responses', { model, input: `to ${model}` });
    expect([response.status, await response.json()]).toMatchObject([200, { model, status: 'completed' }]);
  }
  expect([askedFor(`to ${engineModel}`), askedFor(`to ${secondModel}`)]).toEqual([
    [1, 0],
    [0, 1],
  ]);
});

it('asks the model of the file of a mega service, else the default one', async () => {
  const asked = await Promise.all([
    ask('pinned', 'pinned'),
    ask('plain', 'plain'),
    ask(undefined, 'unnamed'),
  ]);
  expect(asked.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect([askedFor('pinned'), askedFor('plain'), askedFor('unnamed')]).toEqual([
    [1, 0],
    [0, 1],
    [0, 1],
  ]);
});

describe('engines while it runs', () => {
  const thirdModel = 'scripted-3';
  let third: ScriptedEngine;
  beforeAll(async () => {
    third = await startScriptedEngine({ id: thirdModel, owned_by: 'vllm', max_model_len: 32_000 });
    third.script = (body) => ({ text: body['stream'] ? 'in parts' : 'as a whole' });
  });
  afterAll(() => third.close());

  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(stack.gateway.url + path, {
      method,
      ...(body !== undefined && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const modelsOf = async (url: string) => {
    const { data } = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string }[] };
    return data.map(({ id }) => id);
  };

  it('are added, answer with their model, and stay after a restart, without a view of their key', async () => {
    const spec = {
      id: 'third',
      url: third.url,
      api_key: 'very-secret',
      labels: { zone: 'a' },
      max_in_flight: 4,
    };
    const added = await call('POST', '/v1/engines', spec);
    expect(added).toMatchObject({
      status: 200,
      body: { id: 'third', kind: 'vllm', state: 'closed', has_key: true, models: [{ id: thirdModel }] },
    });
    const answered = await ask(thirdModel);
    expect([answered.status, answered.body]).toEqual([200, expect.stringContaining('as a whole')]);
    expect(JSON.parse(answered.body)).toMatchObject({ model: thirdModel });
    const body = { model: thirdModel, stream: true, messages: [{ role: 'user', content: 'hi' }] };
    expect(await (await stack.post('/v1/chat/completions', body)).text()).toContain('parts');
    const listed = await call('GET', '/v1/engines');
    expect(listed.body).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ id: 'third' })]),
    });
    expect(JSON.stringify(listed.body)).not.toContain('very-secret');
    // A new instance reads it from the gateway.
    const fresh = await stack.startLlm(second);
    await expect.poll(() => modelsOf(fresh.url)).toContain(thirdModel);
    await fresh.stop();
  });

  it('have the form of workers of SGLang, too', async () => {
    const { body: listed } = await call('GET', '/list_workers');
    expect(listed).toMatchObject({ urls: expect.arrayContaining([third.url]) });
    const worker = await call('GET', '/workers/third');
    expect(worker.body).toMatchObject({ model_id: thirdModel, is_healthy: true, circuit_breaker: 'closed' });
    expect((await call('POST', `/remove_worker?url=${encodeURIComponent(third.url)}`)).status).toBe(200);
    expect((await ask(thirdModel)).status).toBeGreaterThanOrEqual(404);
    expect((await call('POST', `/add_worker?url=${encodeURIComponent(third.url)}`)).status).toBe(200);
    expect((await ask(thirdModel)).status).toBe(200);
    expect((await call('DELETE', `/workers/${new URL(third.url).host}`)).status).toBe(200);
  });

  it.each([
    ['of metadata services', { url: 'http://169.254.169.254' }, 'forbidden_url', 'url'],
    ['where nothing answers', { url: 'http://127.0.0.1:1' }, 'unreachable_url', 'url'],
    ['with a credential', { url: 'http://me:pw@localhost' }, 'invalid_request', 'url'],
    ['with an unknown field', { url: 'http://localhost', modles: ['x'] }, 'invalid_request', 'modles'],
  ])('are refused %s', async (_what, spec, code, param) => {
    expect(await call('POST', '/v1/engines', spec)).toMatchObject({
      status: 400,
      body: { error: { code, param } },
    });
  });

  it('come from files, which name models that answer in the place of others', async () => {
    const path = join(directory.path, 'engines', 'home.yaml');
    const file = {
      engines: [{ id: 'home', url: third.url }],
      models: { 'big-9': { fallbacks: [thirdModel, secondModel, engineModel] } },
    };
    await writeFile(path, JSON.stringify(file));
    await expect.poll(() => modelsOf(stack.gateway.url), { timeout: 10_000 }).toContain('big-9');
    const first = await ask('big-9');
    expect([first.status, first.body]).toEqual([200, expect.stringContaining('as a whole')]);
    expect((await call('DELETE', '/v1/engines/home')).status).toBe(409);
    third.script = () => ({ refuse: { status: 500, body: { error: 'broken' } } });
    const other = await ask('big-9', 'fallback');
    // The engines of the other models repeat the message.
    expect([other.status, other.body]).toEqual([200, expect.stringContaining('"content":"fallback"')]);
    await writeFile(path, '{}');
    await expect.poll(() => modelsOf(stack.gateway.url), { timeout: 10_000 }).not.toContain(thirdModel);
  });
});

it('rolls out from one model to the other without a refusal', async () => {
  const statuses: number[] = [];
  const run = { over: false, named: secondModel };
  const client = async (model: () => string | undefined) => {
    while (!run.over) {
      const { status, body } = await ask(model(), 'rollout');
      statuses.push(status);
      if (status !== 200) throw new Error(`${status} ${body}`);
    }
  };
  const clients = Promise.all([client(() => run.named), client(() => 'gpt-4o'), client(() => undefined)]);
  // A failure of one of them ends the test.
  const more = async () => {
    const before = statuses.length;
    const answered = async () => {
      await expect.poll(() => statuses.length).toBeGreaterThan(before + 30);
    };
    await Promise.race([clients, answered()]);
  };
  await more();
  // The default model leaves; what names none goes to the other one.
  run.named = engineModel;
  await more();
  await secondLlm.stop();
  await more();
  run.over = true;
  await clients;
  expect(askedFor('rollout').every((count) => count > 0)).toBe(true);
  const left = await ask(secondModel);
  expect([left.status, left.headers.get('retry-after'), left.body]).toEqual([
    503,
    '1',
    expect.stringContaining(`no instance that serves the model ${secondModel} is running`),
  ]);
});
