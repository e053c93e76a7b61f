import { join } from 'node:path';
import { builtFile } from '#platform/foundation';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult, Progress } from '@modelcontextprotocol/sdk/types.js';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createTemporaryDirectory } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';

/** MegaNest as an MCP server, used by the clients of the SDK. */

const keys = {
  reader: 'reader-key-0123456789',
  writer: 'writer-key-0123456789',
  chatter: 'chatter-key-01234567',
};
const digest = (key: string) => createHash('sha256').update(key).digest('hex');

let directory: Awaited<ReturnType<typeof createTemporaryDirectory>>;
let stack: ScriptedStack;
const clients: Client[] = [];

beforeAll(async () => {
  directory = await createTemporaryDirectory();
  const file = join(directory.path, 'keys.yaml');
  const entries = [
    { name: 'reader', sha256: digest(keys.reader), scopes: ['read'] },
    { name: 'writer', sha256: digest(keys.writer) },
    { name: 'chatter', sha256: digest(keys.chatter), models: ['chatqna'] },
  ];
  writeFileSync(file, JSON.stringify({ keys: entries }));
  stack = await startScriptedStack({ API_KEYS_FILE: file });
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await stack?.stop();
  await directory?.remove();
});

/** A session belongs to one gateway. */
const address = (path = '/mcp') => new URL(path, stack.gateway.instances[0]);
const headersOf = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

async function connect(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  clients.push(client);
  return client;
}

const streamable = (key = keys.writer) =>
  new StreamableHTTPClientTransport(address(), { requestInit: headersOf(key) });

type Structured = Record<string, unknown>;
async function call(client: Client, name: string, args: Record<string, unknown>): Promise<Structured> {
  const result = (await client.callTool({ name, arguments: args })) as CallToolResult;
  expect({ name, content: result.content, isError: result.isError }).toMatchObject({
    name,
    isError: undefined,
  });
  return result.structuredContent ?? {};
}

describe('the MCP server', () => {
  it('lists its tools with annotations, and one for each mega service', async () => {
    const client = await connect(streamable());
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names.slice(0, 6)).toEqual(['search', 'find', 'open', 'list_documents', 'ask', 'ingest']);
    expect(names).toEqual(expect.arrayContaining(['chatqna', 'docsum', 'faqgen', 'audioqna']));
    expect(new Set(names).size).toBe(names.length);
    for (const { name, annotations, inputSchema } of tools) {
      expect(name).toMatch(/^[\w-]{1,64}$/);
      expect(inputSchema.type).toBe('object');
      expect(annotations?.readOnlyHint).toBe(name !== 'ingest');
    }
    expect(tools.find(({ name }) => name === 'ingest')?.annotations?.destructiveHint).toBe(true);
    expect(client.getInstructions()).toContain('search');
  });

  it('searches, and opens what it found', async () => {
    const client = await connect(streamable());
    const { results } = (await call(client, 'search', { query: 'passages', max_results: 1 })) as {
      results: { document: string; passage: number; filename: string; text: string; url: string }[];
    };
    expect(results).toMatchObject([
      { document: 'document-1', passage: 1, filename: 'file-1.md', text: 'Passage 1 says 1.' },
    ]);
    expect(results[0]?.url).toBe(`${address().origin}/#/documents/document-1?passage=1`);
    const opened = await call(client, 'open', { document: results[0]?.document, from: 1 });
    expect(opened).toMatchObject({
      filename: 'tower.md',
      from: 0,
      to: 1,
      passages: 4,
      headings: ['Tower'],
      next: 2,
    });
    expect(opened['text']).toContain('4711 steps');
    expect(opened['text']).not.toContain('crowns');
    expect(await call(client, 'open', { document: 'tower.md', from: 2, to: 3 })).not.toHaveProperty('next');
  });

  it('finds words and regular expressions in a document', async () => {
    const client = await connect(streamable());
    expect(await call(client, 'find', { document: 'tower.md', pattern: 'THE TOWER' })).toMatchObject({
      document: 'document-1',
      matches: [{ passage: 0 }, { passage: 2, heading: 'Visits' }],
      has_more: false,
    });
    const years = { document: 'document-1', pattern: String.raw`\b1\d{3}\b`, regex: true };
    expect(await call(client, 'find', years)).toMatchObject({ matches: [{ passage: 1 }] });
    expect(await call(client, 'find', { document: 'tower.md', pattern: 'e', max_matches: 2 })).toMatchObject({
      has_more: true,
    });
  });

  it('lists documents and collections', async () => {
    const client = await connect(streamable());
    expect(await call(client, 'list_documents', { limit: 1 })).toMatchObject({
      documents: [{ id: 'document-1' }],
      collections: ['default', 'harbor'],
      has_more: true,
    });
    expect(await call(client, 'list_documents', { collection: 'harbor' })).toMatchObject({
      documents: [{ filename: 'ferry.md' }],
      has_more: false,
    });
  });

  it('answers with citations, and reports its progress', async () => {
    const client = await connect(streamable());
    const steps: Progress[] = [];
    const args = { question: 'count 3 every 120' };
    const result = await client.callTool({ name: 'ask', arguments: args }, undefined, {
      onprogress: (step) => steps.push(step),
    });
    expect(result.structuredContent).toMatchObject({
      answer: '1 2 3 ',
      model: 'chatqna',
      citations: [{ number: 1, filename: 'file-1.md', quote: '1 2 3 ' }],
    });
    expect(steps.length).toBeGreaterThan(0);
    expect(steps.map(({ progress }) => progress)).toEqual(
      steps.map(({ progress }) => progress).toSorted((a, b) => a - b),
    );
  });

  it('runs a mega service with its parameters', async () => {
    const client = await connect(streamable());
    expect(await call(client, 'chatqna', { messages: 'say this', k: 3, max_tokens: 1 })).toMatchObject({
      answer: 'say ',
      finish_reason: 'length',
    });
    expect(stack.witness.retrievals.at(-1)?.k).toBe(3);
  });

  it('ingests with a key that may write, and shows the tool to no other', async () => {
    const client = await connect(streamable());
    const args = { text: 'The lamp is lit.', filename: 'lamp.txt' };
    const steps: Progress[] = [];
    const result = await client.callTool({ name: 'ingest', arguments: args }, undefined, {
      onprogress: (step) => steps.push(step),
    });
    expect(result.structuredContent).toEqual({
      documents: [{ documentId: 'document-3', filename: 'lamp.txt', chunks: 1, outcome: 'added' }],
    });
    expect(steps.map(({ message }) => message)).toContain('embedding lamp.txt: 0/1');
    const reader = await connect(streamable(keys.reader));
    const { tools } = await reader.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('ingest');
    expect(await reader.callTool({ name: 'ingest', arguments: args })).toMatchObject({
      isError: true,
      _meta: { error: { code: 'insufficient_scope' } },
    });
  });

  it('refuses models and mega services that a key may not ask', async () => {
    const client = await connect(streamable(keys.chatter));
    await call(client, 'chatqna', { messages: 'say this' });
    for (const [name, args] of [
      ['docsum', { messages: 'say this' }],
      ['ask', { question: 'say this', model: 'scripted' }],
      ['search', { query: 'this' }],
    ] as const)
      expect({ name, result: await client.callTool({ name, arguments: args }) }).toMatchObject({
        result: { isError: true, _meta: { error: { code: 'insufficient_scope' } } },
      });
  });

  it('answers wrong arguments with the name of the field, and unknown tools with an error', async () => {
    const client = await connect(streamable());
    for (const [name, args, param] of [
      ['search', {}, 'query'],
      ['open', { document: 'tower.md', from: 9 }, 'from'],
      ['find', { document: 'tower.md', pattern: '(', regex: true }, 'pattern'],
      ['find', { document: 'no.md', pattern: 'x' }, 'document'],
      ['chatqna', { messages: 'say this', k: 0 }, 'k'],
    ] as const)
      expect({ name, result: await client.callTool({ name, arguments: args }) }).toMatchObject({
        result: { isError: true, _meta: { error: { param } } },
      });
    await expect(client.callTool({ name: 'nothing' })).rejects.toThrow('The tool nothing is unknown');
  });

  it('stops an answer that the client cancels', async () => {
    const client = await connect(streamable());
    const abort = new AbortController();
    const { stopped } = stack.witness;
    const asked = client.callTool({ name: 'ask', arguments: { question: 'count 500 every 20' } }, undefined, {
      signal: abort.signal,
      onprogress: () => abort.abort(),
    });
    await expect(asked).rejects.toThrow('abort');
    await vi.waitFor(() => expect(stack.witness.stopped).toBe(stopped + 1));
  });

  it('has documents as resources, and the prompt of the profile', async () => {
    const client = await connect(streamable());
    const { resources } = await client.listResources();
    expect(resources.map(({ name }) => name)).toEqual(['tower.md', 'ferry.md']);
    const { contents } = await client.readResource({ uri: 'meganest://documents/document-1' });
    expect(contents[0]).toMatchObject({
      mimeType: 'text/markdown',
      text: expect.stringContaining('4 crowns') as string,
    });
    await expect(client.readResource({ uri: 'meganest://documents/none' })).rejects.toMatchObject({
      code: -32002,
    });
    const { resourceTemplates } = await client.listResourceTemplates();
    const [{ uriTemplate } = { uriTemplate: '' }] = resourceTemplates;
    const ref = { type: 'ref/resource' as const, uri: uriTemplate };
    const { completion } = await client.complete({ ref, argument: { name: 'id', value: 'document-2' } });
    expect(completion.values).toEqual(['document-2']);
    const [prompt] = (await client.listPrompts()).prompts;
    const got = await client.getPrompt({ name: prompt?.name ?? '', arguments: { question: 'What says 2?' } });
    expect(got.messages[0]?.content).toMatchObject({
      text: expect.stringMatching(/\[2\] Passage 2 says 2\.[^]*What says 2\?/) as string,
    });
  });

  it('belongs to the key that opened it, and ends with DELETE', async () => {
    const transport = streamable();
    await connect(transport);
    const list = (key: string) =>
      fetch(address(), {
        method: 'POST',
        headers: {
          ...headersOf(key).headers,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-session-id': transport.sessionId ?? '',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      });
    expect((await list(keys.writer)).status).toBe(200);
    expect((await list(keys.reader)).status).toBe(404);
    expect((await list('wrong')).status).toBe(401);
    await transport.terminateSession();
    expect((await list(keys.writer)).status).toBe(404);
  });

  it('answers one message without a session', async () => {
    const answer = await fetch(address(), {
      method: 'POST',
      headers: {
        ...headersOf(keys.reader).headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'list_documents' },
      }),
    });
    expect(await answer.json()).toMatchObject({ id: 1, result: { structuredContent: { has_more: false } } });
  });

  it('sends a client that lost its connection what it missed', async () => {
    const transport = streamable();
    await connect(transport);
    const cut = new AbortController();
    const headers = {
      ...headersOf(keys.writer).headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': transport.sessionId ?? '',
      'mcp-protocol-version': '2025-11-25',
    };
    const params = {
      name: 'ask',
      arguments: { question: 'count 4 every 60' },
      _meta: { progressToken: 'p' },
    };
    const asked = await fetch(address(), {
      method: 'POST',
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: 'cut', method: 'tools/call', params }),
      signal: cut.signal,
    });
    const reader = asked.body!.pipeThrough(new TextDecoderStream()).getReader();
    const first = (await reader.read()).value ?? '';
    const id = /^id: (\S+)/m.exec(first)?.[1] ?? '';
    cut.abort();
    await reader.read().catch(() => undefined);
    // Until the gateway notices that the connection is gone, it answers 409, after which clients try again.
    const resumed = await vi.waitFor(async () => {
      const answer = await fetch(address(), { headers: { ...headers, 'last-event-id': id } });
      expect(answer.status).toBe(200);
      return answer;
    }, 10_000);
    expect(await resumed.text()).toContain('"answer":"1 2 3 4 "');
  });

  it('serves the transport of older clients', async () => {
    const init = headersOf(keys.writer);
    const client = await connect(new SSEClientTransport(address('/sse'), { requestInit: init }));
    expect(await call(client, 'ask', { question: 'say this' })).toMatchObject({ answer: 'say this' });
    const foreign = await fetch(address('/sse/messages?sessionId=none'), {
      method: 'POST',
      headers: { ...init.headers, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(foreign.status).toBe(404);
  });

  it('is a command on standard input and output', async () => {
    const client = await connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [builtFile('mcp'), '--url', address().origin, '--key', keys.writer],
      }),
    );
    expect(await call(client, 'ask', { question: 'say this' })).toMatchObject({ answer: 'say this' });
  });

  it('tells clients when the mega services change', async () => {
    const client = await connect(streamable());
    const changed = new Promise<void>((resolve) => {
      client.fallbackNotificationHandler = async ({ method }) => {
        if (method === 'notifications/tools/list_changed') resolve();
      };
    });
    // The stream for the server's own messages is open once a list was answered.
    await client.listTools();
    stack.gateway.process.signal('SIGHUP');
    await expect(changed).resolves.toBeUndefined();
  });
});
