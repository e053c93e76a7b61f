import { readdirSync, symlinkSync } from 'node:fs';
import { services } from '#platform/local-stack';
import {
  allServices,
  createTemporaryDirectory,
  repositoryRoot,
  startStack,
  type TestStack,
} from '#platform/testing';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  chatRows,
  dataprepRows,
  enginesRows,
  everywhere,
  listings,
  retrievalRows,
} from './helpers/opea/gateway-rows.js';
import { embeddingRows, llmRows, rerankingRows } from './helpers/opea/model-rows.js';
import { number, passages, question, type Row } from './helpers/opea/row.js';
import { ingestText } from './helpers/ingest.js';
import { pastedCommands, runPasted } from './helpers/pasted-commands.js';

/**
 * The rows of OPEA's API in both dialects, the specification's (v0.9) and the reference implementation's, with their
 * errors. `/v1/asr` is tested where speech is.
 */

let stack: TestStack;
beforeAll(async () => {
  stack = await startStack();
  await ingestText(stack.service('gateway').url, 'ferry.txt', passages[0] ?? '');
});
afterAll(() => stack?.stop());

async function send({ service, path, body, method }: Pick<Row, 'service' | 'path' | 'body' | 'method'>) {
  return fetch(stack.service(service).url + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
}

const rows = [
  ...listings,
  ...embeddingRows,
  ...llmRows,
  ...chatRows,
  ...retrievalRows,
  ...rerankingRows,
  ...dataprepRows,
  ...enginesRows,
  ...everywhere,
];

describe('OPEA', () => {
  it.each(rows)('$service $path: $form', async (row) => {
    const answer = await send(row);
    const body: unknown = await answer.json();
    expect({ status: answer.status, body }).toMatchObject({ status: row.status ?? 200, body: row.answer });
  });

  it('/v1/chatqna streams by default, in the frames of the reference', async () => {
    const answer = await send({ service: 'gateway', path: '/v1/chatqna', body: { messages: question } });
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const frames = (await answer.text()).trimEnd().split('\n\n');
    expect(frames.at(-1)).toBe('data: [DONE]');
    for (const frame of frames.slice(0, -1)) expect(frame).toMatch(/^data: b(['"]).*\1$/s);
  });

  it('names a model that is not served on the LLM service', async () => {
    const body = { messages: question, max_tokens: 4, model: 'Intel/neural-chat-7b-v3-3' };
    const answer = await send({ service: 'llm', path: '/v1/chat/completions', body });
    expect(answer.headers.get('x-meganest-ignored')).toBe('model');
    expect(await answer.json()).toMatchObject({ model: 'nano-chat' });
  });

  it('names a system prompt that the model does not follow', async () => {
    const turns = [
      { role: 'system', content: 'Answer in French.' },
      { role: 'user', content: question },
    ];
    const asked = [
      ['/v1/chat/completions', { messages: turns }, 'messages.system'],
      ['/v1/chat/completions', { messages: turns, model: 'nano-chat', max_tokens: 8 }, 'messages.system'],
      ['/v1/chatqna', { messages: turns, stream: false }, 'messages.system'],
      ['/v1/responses', { instructions: 'Answer in French.', input: question }, 'instructions'],
    ] as const;
    for (const [path, body, ignored] of asked) {
      const answer = await send({ service: 'gateway', path, body });
      expect({ path, ignored: answer.headers.get('x-meganest-ignored') }).toEqual({ path, ignored });
    }
  });

  it('names the sampling parameters that do not change a quoted answer', async () => {
    const sampling = { temperature: 0.7, top_p: 0.9, seed: 4, max_tokens: 64, n: 1 };
    const asked = [
      ['gateway', '/v1/chat/completions', { messages: question, ...sampling }, 'temperature, top_p, seed'],
      ['gateway', '/v1/chatqna', { messages: question, stream: false, seed: 4 }, 'seed'],
      ['gateway', '/v1/responses', { input: question, temperature: 0.7, top_p: 0.9 }, 'temperature, top_p'],
      ['llm', '/v1/chat/completions', { query: question, documents: [question], seed: 4 }, 'seed'],
      // The language model alone samples.
      [
        'gateway',
        '/v1/chat/completions',
        { messages: question, model: 'nano-chat', max_tokens: 4, seed: 4 },
        null,
      ],
    ] as const;
    for (const [service, path, body, ignored] of asked) {
      const answer = await send({ service, path, body });
      await answer.text();
      expect({ path, ignored: answer.headers.get('x-meganest-ignored') }).toEqual({ path, ignored });
    }
  });

  it.each(['/v1/chatqna', '/v1/chat/completions', '/v1/retrievaltool'])(
    '%s refuses a question without a word',
    async (path) => {
      for (const messages of ['  ', 'a', '?']) {
        const answer = await send({ service: 'gateway', path, body: { messages } });
        expect(answer.status).toBe(400);
        expect(await answer.json()).toMatchObject({
          error: { message: expect.stringContaining('question') as string },
        });
      }
    },
  );

  it('knows an index by its name on every way in and out', async () => {
    const index_name = 'ferries';
    const fact = 'The Kalindor ferry leaves at seven.';
    const asking = 'When does the Kalindor ferry leave?';
    const read = async (service: Row['service'], path: string, body: unknown) => {
      const answer = await send({ service, path, body });
      expect({ path, status: answer.status }).toEqual({ path, status: 200 });
      return JSON.stringify(await answer.json());
    };
    await read('gateway', '/v1/dataprep/ingest', { text: fact, filename: 'kalindor.txt', index_name });
    expect(await read('gateway', '/v1/dataprep/get', { index_name })).toContain('kalindor.txt');
    for (const [name, found] of [
      [index_name, true],
      ['default', false],
    ] as const) {
      const body = { text: asking, index_name: name };
      expect((await read('retrieval', '/v1/retrieval', body)).includes(fact)).toBe(found);
      expect((await read('retrieval', '/v1/rag_retrieval', body)).includes(fact)).toBe(found);
      expect((await read('gateway', '/v1/retrievaltool', body)).includes(fact)).toBe(found);
      const chat = { messages: asking, stream: false, index_name: name };
      expect((await read('gateway', '/v1/chatqna', chat)).includes('leaves at seven')).toBe(found);
      expect((await read('gateway', '/v1/chat/completions', chat)).includes('leaves at seven')).toBe(found);
    }
    await read('dataprep', '/v1/dataprep/delete', { file_path: 'kalindor.txt', index_name });
    expect(await read('dataprep', '/v1/dataprep/get', { index_name })).toBe('[]');
  });

  it('/v1/statistics has the latencies to the first token, in seconds', async () => {
    await send({ service: 'llm', path: '/v1/chat/completions', body: { message: question, max_tokens: 4 } });
    const answer = await send({ service: 'llm', path: '/v1/statistics' });
    const operations = Object.values((await answer.json()) as Record<string, object>);
    expect(operations).toContainEqual(
      expect.objectContaining({
        p50_latency: number,
        p99_latency: number,
        average_latency: number,
        p50_latency_first_token: number,
        p99_latency_first_token: number,
        average_latency_first_token: number,
      }),
    );
  });

  it.each(allServices)('%s has metrics for Prometheus', async (service) => {
    const answer = await send({ service, path: '/metrics' });
    expect(answer.headers.get('content-type')).toContain('text/plain');
    expect(await answer.text()).toMatch(/^# TYPE /m);
  });

  it('every curl line of the documentation answers 2xx', async () => {
    const folder = await createTemporaryDirectory();
    // A page's commands are given in the folder of the project.
    symlinkSync(join(repositoryRoot, 'test'), join(folder.path, 'test'));
    const docs = join(repositoryRoot, 'docs');
    const pages = readdirSync(docs).filter((file) => file.endsWith('.md'));
    const urls = Object.fromEntries(
      services.map(({ name, defaultPort }) => [`http://127.0.0.1:${defaultPort}`, stack.service(name).url]),
    );
    for (const page of [join(repositoryRoot, 'README.md'), ...pages.map((file) => join(docs, file))])
      for (const { line, status, text: said } of await runPasted(
        await pastedCommands(pathToFileURL(page)),
        urls,
        folder.path,
      ))
        expect({ line, ok: status >= 200 && status < 300, said }, `${line}: ${status} ${said}`).toMatchObject(
          { ok: true },
        );
    await folder.remove();
  });

  /** Their bodies name a file that was uploaded, or an engine that runs. */
  const needSomethingElse = new Set([
    '/v1/batches',
    '/v1/engines',
    '/workers',
    '/add_worker',
    '/remove_worker',
    // A language model that writes.
    '/v1/codegen',
    '/v1/codetrans',
    '/v1/translation',
    '/v1/visualqna',
  ]);

  it('every endpoint without an id has a curl line in docs/endpoints.md', async () => {
    const page = pathToFileURL(join(repositoryRoot, 'docs/endpoints.md'));
    const pasted = new Set(
      (await pastedCommands(page)).flatMap((command) =>
        'file' in command ? [] : [`${command.method} ${command.url.replace('http://127.0.0.1:', '')}`],
      ),
    );
    const missing: string[] = [];
    for (const { name, defaultPort: port } of services) {
      const answer = await fetch(`${stack.service(name).url}/openapi.json`);
      const { paths } = (await answer.json()) as { paths: Record<string, Record<string, unknown>> };
      for (const [path, methods] of Object.entries(paths)) {
        const isAlias = paths[`/v1${path}`] !== undefined;
        if (isAlias || path.includes('{') || path === '/v1/audio/translations') continue;
        for (const method of Object.keys(methods)) {
          const line = `${method.toUpperCase()} ${port}${path}`;
          if (method === 'post' && needSomethingElse.has(path)) continue;
          if (['get', 'post'].includes(method) && !pasted.has(line)) missing.push(line);
        }
      }
    }
    expect(missing).toEqual([]);
  });
});
