import type { ServerResponse } from 'node:http';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sendJson, startEngine, type TestEngine } from './engine.fixture.js';
import { RemoteServer } from './remote-server.js';

const usual = getGlobalDispatcher();

describe('RemoteServer', () => {
  let engine: TestEngine | undefined;
  afterEach(async () => {
    setGlobalDispatcher(usual);
    await engine?.close();
  });

  it('waits for a silent engine as long as the signal allows, whatever fetch does by itself', async () => {
    // fetch waits for five minutes; here it waits for a moment.
    setGlobalDispatcher(new Agent({ headersTimeout: 50 }));
    const waiting: ServerResponse[] = [];
    engine = await startEngine({ '/slow': (response) => void waiting.push(response) });
    const server = new RemoteServer('llm', { endpoint: engine.url });
    const answer = server.json({ path: '/slow' }, z.object({}));
    const abort = new AbortController();
    const left = server.send({ path: '/slow', signal: abort.signal });
    left.catch(() => undefined);
    await expect(fetch(`${engine.url}/slow`)).rejects.toThrow('fetch failed');
    for (const response of waiting.slice(0, 1)) sendJson(response, {});
    expect(await answer).toEqual({});
    abort.abort();
    await expect(left).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('replaces unpaired surrogates in all texts that it sends', async () => {
    engine = await startEngine({ '/echo': (response, { body }) => sendJson(response, body) });
    const server = new RemoteServer('llm', { endpoint: engine.url });
    const body = { messages: [{ content: 'lone \ud83d, pair \u{1F600}' }], stop: ['\udc00'] };
    expect(await server.json({ path: '/echo', body }, z.unknown())).toEqual({
      messages: [{ content: 'lone \ufffd, pair \u{1F600}' }],
      stop: ['\ufffd'],
    });
  });
});
