import type { RunReceipt } from '#platform/dag';
import { allServices, startService, startStack, type TestStack } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteFile, ingestText } from './helpers/ingest.js';
import { postJson } from './helpers/http.js';

interface UrlCitation {
  filename: string;
  quote: string;
  document_start: number | null;
  document_end: number | null;
}

interface Completion {
  choices: { message: { content: string; annotations?: { url_citation: UrlCitation }[] } }[];
}

let stack: TestStack;
let url: string;

beforeAll(async () => {
  stack = await startStack();
  url = stack.service('gateway').url;
  await ingestText(url, 'office.md', '# Office\n\nThe office in Lisbon opens at 8 am and closes at 7 pm.');
});
afterAll(() => stack?.stop());

async function ask(
  question: string,
  extra: Record<string, unknown> = {},
): Promise<Completion['choices'][number]['message']> {
  const { status, body } = await postJson(`${url}/v1/chat/completions`, { messages: question, ...extra });
  expect({ status, body }).toMatchObject({ status: 200 });
  return (body as Completion).choices[0]?.message ?? { content: '' };
}

describe('a made-up fact in a file', () => {
  const fact = 'The Quibblewick engine runs on fermented plum juice.';
  const question = 'What does the Quibblewick engine run on?';

  it('is answered and cited after the upload, and gone after the delete', async () => {
    const text =
      'An old engine.\n\n\n  The Quibblewick engine   runs on fermented plum juice. It was built in a barn.\n';
    await ingestText(url, 'quibblewick.txt', text);
    const answer = await ask(question);
    expect(answer.content).toContain('fermented plum juice');
    expect(answer.annotations?.[0]?.url_citation).toMatchObject({ filename: 'quibblewick.txt', quote: fact });
    // Of the file, which has more blanks than the passage.
    const { document_start: start, document_end: end } = answer.annotations![0]!.url_citation;
    expect(text.slice(start!, end!)).toBe('The Quibblewick engine   runs on fermented plum juice.');

    await deleteFile(url, 'quibblewick.txt');
    const later = await ask(question);
    expect(later.content).not.toContain('plum');
    expect((later.annotations ?? []).map(({ url_citation }) => url_citation.filename)).not.toContain(
      'quibblewick.txt',
    );
  });

  it('is replaced by a new version of the file', async () => {
    await ingestText(url, 'engine.txt', 'The Snorfle engine has 12 cylinders.');
    await ingestText(url, 'engine.txt', 'The Snorfle engine has 16 cylinders.');
    expect((await ask('How many cylinders does the Snorfle engine have?')).content).toContain('16 cylinders');
  });
});

describe('the mega service over HTTP', () => {
  it('says where the time went and which fields had no effect', async () => {
    const { headers } = await postJson(`${url}/v1/chat/completions`, {
      messages: 'When does the office open?',
      user: 'me',
      prompt_cache_key: 'k',
      length_penalty: 2,
    });
    expect(headers.get('server-timing')).toMatch(
      /^embedding;dur=.+retrieval;dur=.+reranking;.+llm;dur=.+total;dur=/,
    );
    expect(headers.get('x-meganest-ignored')).toBe('length_penalty, prompt_cache_key');
    expect(headers.get('x-meganest-degraded')).toBeNull();
    expect(headers.get('x-request-id')).toMatch(/\S+/);
  });

  it('keeps a receipt of each request, and shows it with the mega service', async () => {
    const { headers } = await postJson(`${url}/v1/chat/completions`, {
      messages: 'When does the office open?',
    });
    const requestId = headers.get('x-request-id');
    const { instances } = stack.service('gateway');
    const answer = await fetch(`${url}/v1/receipts/${requestId}`);
    const stored = (await answer.json()) as { receipt: RunReceipt };
    expect(stored.receipt.state).toBe('ok');
    expect(stored.receipt.nodes.map(({ node, state, attempts }) => [node, state, attempts])).toEqual([
      ['embedding', 'ok', 1],
      ['retrieval', 'ok', 1],
      ['reranking', 'ok', 1],
      ['llm', 'ok', 1],
    ]);
    expect(stored.receipt.nodes[1]?.details).toMatchObject({
      searchType: 'hybrid',
      documents: expect.arrayContaining([{ id: expect.any(String), score: expect.any(Number) }]),
    });
    const recent = await Promise.all(
      instances.map(async (instance) => {
        const shown: unknown = await (await fetch(`${instance}/v1/megaservices/chatqna`)).json();
        return (shown as { recent: { requestId: string }[] }).recent[0]?.requestId;
      }),
    );
    expect(recent).toContain(requestId);
    expect((await fetch(`${url}/v1/receipts/none`)).status).toBe(404);
  });

  it('shows the YAML of a mega service and says what is wrong with a changed one', async () => {
    const { source } = (await (await fetch(`${url}/v1/megaservices/chatqna`)).json()) as { source: string };
    expect(source).toContain('name: chatqna');
    const validate = (yaml: string) => postJson(`${url}/v1/megaservices/validate`, { source: yaml });
    expect((await validate(source)).body).toEqual({ valid: true, problems: [] });
    expect((await validate(source.replace('service: llm', 'service: lmm'))).body).toMatchObject({
      valid: false,
      problems: [{ file: 'megaservice.yaml', node: 'llm', message: expect.stringContaining('lmm') }],
    });
    expect((await validate('a: [')).body).toMatchObject({ valid: false });
    expect(await (await fetch(`${url}/v1/instances`)).json()).toMatchObject({
      instances: expect.arrayContaining([
        expect.objectContaining({ service: 'llm', errors: expect.any(Number) }),
      ]),
    });
  });

  it("streams OPEA's frames under its own path, by default", async () => {
    const response = await fetch(`${url}/v1/chatqna`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: 'When does the office in Lisbon open?' }),
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const frames = (await response.text()).trim().split('\n\n');
    expect(frames.at(-1)).toBe('data: [DONE]');
    expect(frames.slice(0, -1).every((frame) => /^data: b['"].*['"]$/.test(frame))).toBe(true);
    expect(frames.length).toBeGreaterThan(4);
  });

  it('takes the parameters of its nodes per request', async () => {
    const answer = await ask('When does the office in Lisbon open?', {
      search_type: 'lexical',
      k: 1,
      top_n: 1,
      max_tokens: 64,
    });
    expect(answer.content).toContain('8 am');
  });

  it('answers the same without reranking', async () => {
    const answer = await ask('When does the office in Lisbon open?', { model: 'rag-without-rerank' });
    expect(answer.content).toContain('8 am');
  });
});

describe('the listings of the OPEA specification', () => {
  it('list the services with a request to paste, and the parameters with their types', async () => {
    const services = (await (await fetch(`${url}/v1/list_service`)).json()) as Record<string, string>;
    expect(services['/v1/chatqna']).toContain('curl ');
    const parameters = (await (await fetch(`${url}/v1/list_parameters`)).json()) as Record<
      string,
      Record<string, string>
    >;
    expect(parameters).toMatchObject({
      retrieval: { k: 'integer', search_type: 'string', score_threshold: 'number', filter: 'object' },
      reranking: { top_n: 'integer' },
      llm: { max_tokens: 'integer', temperature: 'number', chat_template: 'string' },
    });
  });

  it.each([
    ['/v1/list_service', 'Retrieve service name wrongly.'],
    ['/v1/list_parameters', 'Retrieve configurable parameter wrongly.'],
  ])("refuses a wrong method on %s with the specification's text", async (path, error) => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const response = await fetch(`${url}${path}`, { method });
      expect(response.status).toBe(405);
      expect(await response.json()).toEqual({ error });
    }
  });
});

describe('a running stack', () => {
  it('shows every dependency in its health', async () => {
    const response = await fetch(`${url}/v1/health_check`);
    expect(response.status).toBe(200);
    const { dependencies } = (await response.json()) as {
      dependencies: { name: string; healthy: boolean }[];
    };
    expect(dependencies.map(({ name }) => name).sort()).toEqual(
      [...allServices.filter((name) => name !== 'gateway'), 'nats', 'postgres'].sort(),
    );
    expect(dependencies.every(({ healthy }) => healthy)).toBe(true);
  });

  it('shares the embedding load with a second instance, without configuration', async () => {
    const second = await startService('embedding', stack.env);
    const embed = () => postJson(`${url}/v1/embeddings`, { input: 'load' });
    await Promise.all(Array.from({ length: 60 * second.instances.length }, embed));
    const counts = await Promise.all(
      [...stack.service('embedding').instances, ...second.instances].map(async (instance) => {
        const statistics = (await (await fetch(`${instance}/v1/statistics`)).json()) as Record<
          string,
          { count: number }
        >;
        return statistics['opea_service@embedding/embed']?.count ?? 0;
      }),
    );
    expect(counts.every((count) => count > 10)).toBe(true);
    await second.stop();
  });

  it('works without the optional reranking, and says so', async () => {
    await stack.service('reranking').kill();
    const { status, body, headers } = await postJson(`${url}/v1/chat/completions`, {
      messages: 'When does the office in Lisbon open?',
    });
    expect(status).toBe(200);
    expect((body as Completion).choices[0]?.message.content).toContain('8 am');
    expect(headers.get('server-timing')).toContain('reranking;desc="skipped"');
    expect(headers.get('x-meganest-degraded')).toBe('reranking');
    const { instances } = stack.service('gateway');
    const stored = await fetch(`${url}/v1/receipts/${headers.get('x-request-id')}`);
    const { receipt } = (await stored.json()) as { receipt: { nodes: object[] } };
    const skipped = { node: 'reranking', state: 'skipped', code: 'service_unavailable' };
    expect(receipt.nodes).toContainEqual(expect.objectContaining(skipped));
    const metrics = instances.map(async (instance) => (await fetch(`${instance}/metrics`)).text());
    expect((await Promise.all(metrics)).join('\n')).toMatch(
      /meganest_degraded_total\{operation="chatqna",step="reranking",reason="service_unavailable",.*\} [1-9]/,
    );
    // A report of health is kept for a second.
    await expect.poll(async () => (await fetch(`${url}/v1/health_check`)).status).toBe(503);
  });

  it('names the service that is gone', async () => {
    await stack.service('llm').kill();
    const { status, body } = await postJson(`${url}/v1/chat/completions`, { messages: 'Anyone there?' });
    expect(status).toBe(503);
    expect((body as { error: { message: string } }).error.message).toContain('llm');
  });
});
