import type { TestService } from '#platform/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scriptedModel } from '../e2e/helpers/scripted-services.js';
import { startScriptedStack, type ScriptedStack } from '../e2e/helpers/scripted-stack.js';
import { openPage, startBrowser } from '../support/browser.js';
import { startOtherOrigin, type OtherOrigin } from '../support/other-origin.js';
import { recordClient } from '../support/client-matrix.js';

recordClient({ client: 'openai (JavaScript), in a browser', name: 'openai' });

const key = 'a-key-of-this-test-1234';

let other: OtherOrigin;
let stack: ScriptedStack;
let refusing: TestService;
let open: TestService;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  [other, browser] = await Promise.all([startOtherOrigin(), startBrowser()]);
  stack = await startScriptedStack({ API_KEYS: key, ALLOWED_ORIGINS: other.origin });
  [refusing, open] = await Promise.all([
    stack.startGateway({ ALLOWED_ORIGINS: '' }),
    stack.startGateway({ ALLOWED_ORIGINS: '', API_KEYS: '' }),
  ]);
  ({ page } = await openPage(browser, other.origin));
});
afterAll(async () => {
  await browser?.close();
  other?.close();
  await stack?.stop();
});

/** Runs a script in the page, with OpenAI's client as `client`. */
function inPage<Result>(gateway: TestService, script: string, apiKey = key): Promise<Result> {
  const options = { baseURL: `${gateway.url}/v1`, apiKey, dangerouslyAllowBrowser: true, maxRetries: 0 };
  return page.evaluate<Result>(`(async () => {
    const { default: OpenAI, toFile } = await import('/openai.js');
    const client = new OpenAI(${JSON.stringify(options)});
    const model = ${JSON.stringify(scriptedModel)};
    ${script}
  })()`);
}

const allowed = () => stack.gateway;

describe("OpenAI's client in a page of another origin", () => {
  it('chats, streams, embeds and uploads where ALLOWED_ORIGINS has the origin', async () => {
    const found = await inPage(
      allowed(),
      `
      const chat = await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'count 3' }] });
      const stream = await client.responses.create({ model, input: 'count 4', stream: true });
      let streamed = '';
      for await (const event of stream) if (event.type === 'response.output_text.delta') streamed += event.delta;
      const { data } = await client.embeddings.create({ model: 'scripted-embed', input: 'a' });
      const file = await client.files.create({ file: await toFile(new Blob(['words']), 'a.txt'), purpose: 'user_data' });
      await client.files.delete(file.id);
      return { chat: chat.choices[0].message.content, streamed, embedding: data[0].embedding, file: file.filename };
    `,
    );
    expect(found).toEqual({ chat: '1 2 3 ', streamed: '1 2 3 4 ', embedding: [1, 0], file: 'a.txt' });
  });

  it.each([
    ['a foreign model', key, { status: 404, code: 'model_not_found' }],
    ['a wrong key', 'wrong-key', { status: 401, code: 'invalid_api_key' }],
  ])('reads the error of %s, with the id of the request', async (_case, apiKey, expected) => {
    const script = `
      return client.chat.completions
        .create({ model: 'unknown', messages: [{ role: 'user', content: 'x' }] })
        .catch(({ status, code, requestID }) => ({ status, code, requestID }));
    `;
    expect(await inPage(allowed(), script, apiKey)).toEqual({
      ...expected,
      requestID: expect.any(String) as string,
    });
  });

  it.each([
    ['with keys', () => refusing],
    ['without keys', () => open],
  ])('is refused where ALLOWED_ORIGINS does not have it, %s', async (_case, gateway) => {
    const refusal = await inPage(
      gateway(),
      `return client.models.list().then(() => 'answered', (error) => error.constructor.name);`,
    );
    expect(refusal).toBe('APIConnectionError');
  });

  it('cannot even send a form that the browser lets through', async () => {
    await inPage(
      open,
      `
      const body = new FormData();
      body.append('purpose', 'user_data');
      body.append('file', new Blob(['planted']), 'planted.txt');
      await fetch('${open.url}/v1/files', { method: 'POST', mode: 'no-cors', body });
    `,
    );
    const listed = await fetch(`${open.url}/v1/files`);
    expect(await listed.json()).toMatchObject({ data: [] });
  });
});

describe('a preflight', () => {
  const ask = (gateway: TestService, origin: string) =>
    fetch(`${gateway.url}/v1/responses`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
      },
    });

  it('is answered without a key', async () => {
    const answer = await ask(allowed(), other.origin);
    expect(answer.status).toBe(204);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': other.origin,
      'access-control-allow-headers': 'authorization,content-type,x-stainless-lang',
      'access-control-allow-methods': expect.stringContaining('POST') as string,
    });
  });

  it('allows nothing to other origins', async () => {
    for (const [gateway, origin] of [
      [allowed(), 'https://evil.example'],
      [allowed(), 'null'],
      [refusing, other.origin],
    ] as const) {
      const answer = await ask(gateway, origin);
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      expect(answer.status).toBe(403);
    }
  });
});
