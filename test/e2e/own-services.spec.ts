import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { cleanEnvironment, createTemporaryDirectory, repositoryRoot } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postJson } from './helpers/http.js';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';

const template = join(repositoryRoot, 'templates/service');

/** A service of the documentation's template in the middle, one written as a plain script at the end. */
const yaml = `name: loud
path: /v1/loud
description: Shouts the question back.
nodes:
  embedding: { service: embedding }
  retrieval: { service: retrieval, after: [embedding] }
  filter: { service: keyword-filter, after: [retrieval], params: { word: Passage 2 } }
  answer: { service: megaphone, after: [filter], stream: true }
`;

let stack: ScriptedStack;
let folder: Awaited<ReturnType<typeof createTemporaryDirectory>>;
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = await createTemporaryDirectory();
  copyFileSync(join(repositoryRoot, 'megaservices/chatqna.yaml'), join(folder.path, 'chatqna.yaml'));
  writeFileSync(join(folder.path, 'loud.yaml'), yaml);
  stack = await startScriptedStack({ MEGASERVICES_DIR: folder.path });
});
afterAll(async () => {
  for (const child of children.filter(({ exitCode, signalCode }) => exitCode === null && !signalCode)) {
    child.kill();
    await once(child, 'exit');
  }
  await stack?.stop();
  await folder?.remove();
});

async function start(args: string[], env: NodeJS.ProcessEnv, ready: string): Promise<void> {
  const child = spawn(process.execPath, args, { env: { ...cleanEnvironment(), ...env }, stdio: 'pipe' });
  children.push(child);
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) if (line.includes(ready)) return;
  throw new Error(`${args.join(' ')} ended before it was ready`);
}

const ask = (body: object) =>
  postJson(`${stack.gateway.url}/v1/chat/completions`, { model: 'loud', messages: 'Say it again', ...body });

/** The gateway looks for new services every two seconds. */
async function untilServed(): Promise<void> {
  for (const instance of stack.gateway.instances) {
    const status = async () =>
      (await postJson(`${instance}/v1/chat/completions`, { model: 'loud', messages: 'Say it again' })).status;
    await expect.poll(status, { interval: 200 }).toBe(200);
  }
}

describe('services of one’s own', () => {
  it('a file that names services which nobody has announced does not keep the gateway from serving', async () => {
    expect(await ask({})).toMatchObject({ status: 404, body: { error: { code: 'model_not_found' } } });
    expect(stack.gateway.output.join('\n')).toContain('unknown service \\"keyword-filter\\"');
  });

  it('join the graph when they announce themselves, with their parameters listed and checked', async () => {
    const entry = join(repositoryRoot, 'dist/service.js');
    await Promise.all([
      start([entry], { NATS_URL: stack.nats.url, HOST: '127.0.0.1' }, 'listening'),
      start([join(repositoryRoot, 'test/fixtures/plain-service.mjs'), stack.nats.url], {}, 'ready'),
    ]);
    await untilServed();
    const answer = await ask({ mark: '?' });
    expect(answer).toMatchObject({
      status: 200,
      body: { choices: [{ message: { content: 'SAY? IT? AGAIN?' }, finish_reason: 'stop' }] },
    });
    expect(await ask({ mark: 'too long' })).toMatchObject({
      status: 400,
      body: { error: { param: 'mark' } },
    });
    const listed = await fetch(`${stack.gateway.url}/v1/list_parameters`);
    expect(await listed.json()).toMatchObject({
      'keyword-filter': { word: 'string' },
      megaphone: { mark: 'string' },
    });
    const path = `/v1/receipts/${answer.headers.get('x-request-id')}`;
    const receipt = await fetch(stack.gateway.url + path);
    expect(await receipt.json()).toMatchObject({
      receipt: {
        nodes: [
          {},
          {},
          { node: 'filter', details: { dropped: 1 } },
          { node: 'answer', details: { passages: 1 } },
        ],
      },
    });
  });

  it('are in the health of the gateway', async () => {
    const response = await fetch(`${stack.gateway.url}/v1/health_check`);
    const { dependencies } = (await response.json()) as { dependencies: object[] };
    for (const name of ['keyword-filter', 'megaphone'])
      expect(dependencies).toContainEqual(expect.objectContaining({ name, healthy: true, required: false }));
  });

  it('stream, in both dialects', async () => {
    const openAi = await fetch(`${stack.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'loud', messages: 'Say it again', stream: true }),
    });
    const text = await openAi.text();
    expect(text.match(/"content":"( ?[A-Z]+!)"/g)).toHaveLength(3);
    expect(text.trimEnd()).toMatch(/data: \[DONE\]$/);
    const opea = await fetch(`${stack.gateway.url}/v1/loud`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: 'Say it again' }),
    });
    expect(await opea.text()).toBe(`data: b'SAY!'\n\ndata: b' IT!'\n\ndata: b' AGAIN!'\n\ndata: [DONE]\n\n`);
  });

  it('need fewer than 60 lines, contract, handler, start and test together', () => {
    const count = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n').length;
    const files = readdirSync(template).filter((file) => file.endsWith('.ts'));
    expect(files.sort()).toEqual(['contract.ts', 'handler.spec.ts', 'handler.ts', 'main.ts']);
    expect(files.reduce((sum, file) => sum + count(join(template, file)), 0)).toBeLessThan(60);
    expect(count(join(repositoryRoot, 'test/fixtures/plain-service.mjs'))).toBeLessThanOrEqual(60);
  });

  it('one that goes away is a 503 that names it', async () => {
    const plain = children.find(({ spawnargs }) =>
      spawnargs.some((arg) => arg.endsWith('plain-service.mjs')),
    );
    plain?.kill('SIGKILL');
    await (plain && once(plain, 'exit'));
    const answer = await ask({});
    expect(answer).toMatchObject({ status: 503 });
    expect(JSON.stringify(answer.body)).toContain('megaphone');
  });
});

describe('a file of a mega service', () => {
  const yaml = (k: number) =>
    `name: short\npath: /v1/short\ndescription: A test.\nnodes:\n  retrieval: { service: retrieval, params: { search_type: lexical, k: ${k} } }\n  llm: { service: llm, after: [retrieval], stream: true }\n`;
  const file = () => join(folder.path, 'short.yaml');

  it('takes effect when it appears, changes and goes, and its fingerprint changes with it', async () => {
    const ask = () =>
      postJson(`${stack.gateway.url}/v1/short`, { messages: 'Zembla ferry engine', stream: false });
    expect(await ask()).toMatchObject({ status: 404 });
    writeFileSync(file(), yaml(1));
    await expect.poll(async () => (await ask()).status).toBe(200);
    const fingerprint = async () => ((await ask()).body as { system_fingerprint: string }).system_fingerprint;
    const first = await fingerprint();
    expect(first).toMatch(/^fp_[0-9a-f]{12}$/);
    expect(await fingerprint()).toBe(first);
    writeFileSync(file(), yaml(2));
    stack.gateway.process.signal('SIGHUP');
    await expect.poll(fingerprint).not.toBe(first);
    rmSync(file());
    await expect.poll(async () => (await ask()).status).toBe(404);
  });
});
