import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryDirectory } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';

const keys = {
  confined: 'a-key-for-one-model-alone',
  alias: 'a-key-for-an-alias-alone',
  open: 'a-key-for-all-the-models',
};

let stack: ScriptedStack;
let directory: Awaited<ReturnType<typeof createTemporaryDirectory>>;
beforeAll(async () => {
  directory = await createTemporaryDirectory();
  const path = join(directory.path, 'keys.json');
  const entry = (name: keyof typeof keys, more: object) => ({
    name,
    sha256: createHash('sha256').update(keys[name]).digest('hex'),
    ...more,
  });
  const entries = [
    entry('confined', { models: ['scripted', 'my-gpt'] }),
    entry('alias', { models: ['other'] }),
    entry('open', {}),
  ];
  writeFileSync(path, JSON.stringify({ keys: entries }));
  stack = await startScriptedStack({ API_KEYS_FILE: path, MODEL_ALIASES: 'my-gpt=docsum,other=scripted' });
});
afterAll(async () => {
  await stack?.stop();
  await directory?.remove();
});

async function post(key: keyof typeof keys, path: string, body: object) {
  const answer = await fetch(stack.gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${keys[key]}` },
    body: JSON.stringify(body),
  });
  const { error } = (await answer.json()) as { error?: { code: string; param: string } };
  return { status: answer.status, code: error?.code, param: error?.param };
}

const messages = [{ role: 'user', content: 'count 1' }];
const refused = { status: 403, code: 'insufficient_scope', param: 'model' };

describe('a key with a list of models', () => {
  it.each([
    ['/v1/chat/completions', { model: 'scripted', messages }],
    ['/v1/responses', { model: 'scripted', input: 'count 1' }],
    ['/v1/chat/completions', { model: 'other', messages }],
    // The name that clients send by default means the one language model.
    ['/v1/chat/completions', { model: 'gpt-4o', messages }],
    ['/v1/responses', { model: 'gpt-4o', input: 'count 1' }],
  ])('asks the ones on it at %s: %o', async (path, body) => {
    expect(await post('confined', path, body)).toMatchObject({ status: 200 });
  });

  it.each([
    ['another mega service', '/v1/chat/completions', { model: 'chatqna', messages }],
    ['the default mega service', '/v1/chat/completions', { messages }],
    ['another mega service by its path', '/v1/chatqna', { messages: 'hi', stream: false }],
    [
      'another mega service, answered in the background',
      '/v1/responses',
      { model: 'chatqna', input: 'x', background: true },
    ],
    ['the default one', '/v1/responses', { input: 'x' }],
    ['another one to compact', '/v1/responses/compact', { model: 'chatqna', input: 'x' }],
    ['the embedding model that is not named', '/v1/rerank', { query: 'a', documents: ['b'] }],
    ['an embedding model', '/v1/embeddings', { model: 'nano-embed', input: 'x' }],
    ['a voice', '/v1/audio/speech', { model: 'tts-1', input: 'x', voice: 'alloy' }],
  ])('does not ask %s', async (_what, path, body) => {
    expect(await post('confined', path, body)).toEqual(refused);
    expect(await post('open', path, body)).not.toEqual(refused);
  });

  it('asks a model by a name on the list that stands for it', async () => {
    expect(await post('confined', '/v1/chat/completions', { model: 'my-gpt', messages })).not.toEqual(
      refused,
    );
    expect(await post('confined', '/v1/chat/completions', { model: 'docsum', messages })).toEqual(refused);
  });

  it.each([
    ['/v1/chat/completions', { messages }],
    ['/v1/responses', { input: 'count 1' }],
    ['/v1/responses', { input: 'count 1', store: false, context_management: [{ type: 'compaction' }] }],
    ['/v1/responses/compact', { input: 'count 1' }],
  ])('asks a model by its alias at %s', async (path, body) => {
    expect(await post('alias', path, { model: 'other', ...body })).toMatchObject({ status: 200 });
    expect(await post('alias', path, { model: 'scripted', ...body })).toEqual(refused);
  });

  it('does not ask another one over a WebSocket', async () => {
    const socket = new WebSocket(`${stack.gateway.url.replace('http', 'ws')}/v1/responses`, {
      headers: { authorization: `Bearer ${keys.confined}` },
    });
    const message = new Promise<string>((resolve, reject) => {
      socket.on('message', (data: Buffer) => resolve(data.toString()));
      socket.on('error', reject);
    });
    socket.on('open', () =>
      socket.send(JSON.stringify({ type: 'response.create', model: 'chatqna', input: 'x' })),
    );
    expect(JSON.parse(await message)).toMatchObject({ error: { code: 'insufficient_scope' } });
    socket.close();
  });
});
