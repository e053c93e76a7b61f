import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTemporaryDirectory, type TestService } from '#platform/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
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
  const env = {
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
