import { generate, healthMethod, type Citation, type RequestOf } from '#platform/contracts';
import { MessagingConnection, RpcClient } from '#platform/messaging';
import { startNats, startService, type TestNats, type TestService } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const text = 'The office in Lisbon opens at 8 am and closes at 7 pm.';

/** The engine is a second LLM service, which speaks OpenAI's API as any other; it hangs on a NATS of its own. */
describe('the LLM service in front of a remote engine', () => {
  let servers: TestNats[];
  let engine: TestService;
  let service: TestService;
  let connection: MessagingConnection;
  let client: RpcClient;

  beforeAll(async () => {
    servers = await Promise.all([startNats(), startNats()]);
    const [own, other] = servers.map(({ url }) => url);
    engine = await startService('llm', { NATS_URL: other });
    service = await startService('llm', { NATS_URL: own, LLM_ENDPOINT: engine.url });
    connection = await MessagingConnection.open({ url: own!, name: 'test' });
    client = new RpcClient(connection);
  });

  afterAll(async () => {
    client?.close();
    await connection?.close();
    await service?.stop();
    await engine?.stop();
    await Promise.all((servers ?? []).map((server) => server.stop()));
  });

  async function collect(content: string, request: Omit<RequestOf<typeof generate>, 'messages'> = {}) {
    const texts: string[] = [];
    const citations: Citation[] = [];
    let last;
    const messages = [{ role: 'user' as const, content }];
    for await (const chunk of client.stream(generate, { messages, ...request })) {
      texts.push(chunk.text);
      citations.push(...(chunk.citations ?? []));
      last = chunk;
    }
    return { texts, citations, last };
  }

  async function pendingInEngine(): Promise<number> {
    const lines = (await (await fetch(`${engine.url}/metrics`)).text()).split('\n');
    const line = lines.find((item) => item.startsWith('meganest_operations_pending{operation="generate"'));
    return Number(line?.split(' ').at(-1));
  }

  it('streams its answers, with its usage', async () => {
    const { texts, last } = await collect('Once', { max_tokens: 20, ignore_eos: true });
    expect(texts.length).toBeGreaterThan(1);
    expect(last).toMatchObject({
      finishReason: 'length',
      model: 'nano-chat',
      usage: { completionTokens: 20, promptTokens: expect.any(Number) },
    });
  });

  it('grounds its answers and resolves their citations', async () => {
    const documents = [{ id: 'office', text, score: 1 }];
    const { texts, citations } = await collect('When does the office in Lisbon open?', { documents });
    expect(texts.join('').trim()).toBe(`${text} [1]`);
    expect(citations).toMatchObject([{ documentId: 'office', passage: 1, quote: text }]);
  });

  it('stops it when the client leaves', async () => {
    const messages = [{ role: 'user' as const, content: 'Once' }];
    const stream = client.stream(generate, {
      messages,
      max_tokens: 1900,
      ignore_eos: true,
      num_assistant_tokens: 0,
    });
    await stream.next();
    expect(await pendingInEngine()).toBe(1);
    await stream.return();
    await expect.poll(pendingInEngine, { interval: 20 }).toBe(0);
  });

  it('passes on what it refuses', async () => {
    await expect(collect('word '.repeat(3000))).rejects.toMatchObject({
      code: 'context_length_exceeded',
      param: 'messages',
      message: expect.stringContaining('takes at most'),
    });
  });

  it('says so when it is gone', async () => {
    await engine.kill();
    await expect(collect('Once')).rejects.toMatchObject({
      code: 'service_unavailable',
      message: expect.stringContaining('its engine cannot be reached'),
    });
    await expect
      .poll(() => client.request(healthMethod('llm'), {}))
      .toMatchObject({ healthy: false, dependencies: [{ name: 'model', healthy: false }] });
    expect((await fetch(`${service.url}/ready`)).status).toBe(503);
  });
});
