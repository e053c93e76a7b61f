import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { McpToolContext } from './mcp-tool.js';
import { readResults, webSearchTool } from './web-search.tool.js';

const page = {
  url: 'https://a.example/x',
  title: 'A <strong>tea</strong>',
  content: 'Tea is <b>hot</b> &lt; 100.',
};
const requests: IncomingMessage[] = [];
let reply: { status: number; body: string; headers?: Record<string, string> };
const server = createServer((request, response) => {
  requests.push(request);
  response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers }).end(reply.body);
});
let url: string;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/search?safesearch=1`;
});
afterAll(() => void server.close());

const context = () =>
  ({
    call: { signal: new AbortController().signal },
    progress: () => undefined,
    numbered: 3,
  }) as unknown as McpToolContext;

describe('web_search', () => {
  it("asks SearXNG's endpoint, and numbers its results after earlier passages", async () => {
    reply = {
      status: 200,
      body: JSON.stringify({ results: [page, { ...page, url: 'https://b.example/' }] }),
    };
    const result = await webSearchTool({ url }).run({ query: 'hot tea', max_results: 1 }, context());
    expect(requests.at(-1)?.url).toBe('/search?safesearch=1&q=hot+tea&format=json');
    expect(result.text).toBe('[4] A tea (https://a.example/x)\nTea is hot &lt; 100.');
    expect(result.documents).toMatchObject([{ metadata: { source: page.url, title: 'A tea' } }]);
  });

  it("asks Brave's endpoint with its key", async () => {
    const { content, ...rest } = page;
    reply = { status: 200, body: JSON.stringify({ web: { results: [{ ...rest, description: content }] } }) };
    const result = await webSearchTool({ url, key: 'secret' }).run({ query: 'tea' }, context());
    expect(requests.at(-1)?.headers['x-subscription-token']).toBe('secret');
    expect(requests.at(-1)?.url).toBe('/search?safesearch=1&q=tea&count=5');
    expect(result.structured).toMatchObject({ results: [{ url: page.url, text: 'Tea is hot &lt; 100.' }] });
  });

  it('leaves out results that are not public pages', () => {
    const urls = [
      'http://127.0.0.1/',
      'http://10.0.0.1/x',
      'javascript:alert(1)',
      'x',
      'https://u:p@a.example/',
    ];
    expect(readResults({ results: [...urls.map((each) => ({ ...page, url: each })), 5, {}] })).toEqual([]);
  });

  it('fails on an error, a redirect and another format', async () => {
    const run = () => webSearchTool({ url }).run({ query: 'tea' }, context());
    for (const answer of [
      { status: 403, body: '{}' },
      { status: 302, body: '', headers: { location: 'http://127.0.0.1/' } },
      { status: 200, body: '<html>' },
      { status: 200, body: '{"results":5}' },
    ]) {
      reply = answer;
      await expect(run()).rejects.toMatchObject({ code: 'service_unavailable' });
    }
  });
});
