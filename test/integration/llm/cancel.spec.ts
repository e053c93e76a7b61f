import { generate, type GenerationChunk } from '#platform/contracts';
import { RpcClient } from '#platform/messaging';
import type { TestService } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServiceWithClient, type ServiceWithClient } from '../../support/service-with-client.js';

/** Far more than could be written while the test runs. */
const maxTokens = 1900;
const messages = [{ role: 'user' as const, content: 'Once' }];
/** One token a message: nothing is guessed ahead. */
const endless = { max_tokens: maxTokens, ignore_eos: true, num_assistant_tokens: 0 };
/**
 * Tokens written while the last ones travel to the client and its leave travels back: one or two on a free machine,
 * dozens where other processes keep it busy. That the stop itself takes effect within a token is tested without a
 * network, beside the service and the engine.
 */
const slack = 200;

describe('leaving a generation of the LLM service', () => {
  let running: ServiceWithClient;
  let service: TestService;
  let client: RpcClient;

  beforeAll(async () => {
    running = await startServiceWithClient('llm');
    ({ service, client } = running);
    // The first call compiles code on both sides, which would count as time on the way.
    const warmUp = client.stream(generate, { messages, max_tokens: 20, ignore_eos: true });
    while (!(await warmUp.next()).done);
  });

  afterAll(() => running?.stop());

  /** The value of a metric with these labels, as it stands in the service's own words. */
  async function metric(name: string, ...labels: string[]): Promise<number> {
    const lines = (await (await fetch(`${service.url}/metrics`)).text()).split('\n');
    const line = lines.find(
      (text) => text.startsWith(`${name}{`) && labels.every((label) => text.includes(label)),
    );
    return Number(line?.split(' ').at(-1));
  }
  const writtenTokens = () => metric('meganest_tokens_total', 'kind="completion"');
  const pending = () => metric('meganest_operations_pending', 'operation="generate"');
  const cancelled = () =>
    metric('meganest_operation_duration_seconds_count', 'operation="generate"', 'outcome="cancelled"');

  /** Runs until the service has noticed that the client is gone; says how many tokens it wrote. */
  async function tokensOf(leave: () => Promise<void>): Promise<number> {
    const before = await writtenTokens();
    await leave();
    await expect.poll(pending, { interval: 10 }).toBe(0);
    return (await writtenTokens()) - before;
  }

  it('stops within a token when a NATS client leaves its loop', async () => {
    let received = 0;
    const written = await tokensOf(async () => {
      for await (const { text } of client.stream(generate, { messages, ...endless })) {
        expect(text).toEqual(expect.any(String));
        received += 1;
        if (received === 10) break;
      }
    });
    expect(received).toBe(10);
    expect(written).toBeGreaterThanOrEqual(received);
    expect(written).toBeLessThanOrEqual(received + slack);
    expect(await cancelled()).toBe(1);
  });

  it('stops within a token when a NATS client aborts', async () => {
    const leaving = new AbortController();
    const received: GenerationChunk[] = [];
    const written = await tokensOf(async () => {
      const run = async () => {
        const stream = client.stream(generate, { messages, ...endless }, { signal: leaving.signal });
        for await (const chunk of stream) {
          received.push(chunk);
          if (received.length === 10) leaving.abort();
        }
      };
      await expect(run()).rejects.toMatchObject({ code: 'cancelled' });
    });
    expect(written).toBeLessThanOrEqual(received.length + slack);
  });

  it('stops within a token at the deadline', async () => {
    let received = 0;
    const written = await tokensOf(async () => {
      const run = async () => {
        const stream = client.stream(generate, { messages, ...endless }, { deadline: Date.now() + 300 });
        while (!(await stream.next()).done) received += 1;
      };
      await expect(run()).rejects.toMatchObject({ code: 'deadline_exceeded' });
    });
    expect(written).toBeLessThanOrEqual(received + slack);
  });

  it.each([true, false])('stops when an HTTP client disconnects (stream: %s)', async (stream) => {
    const leaving = new AbortController();
    const before = await writtenTokens();
    let atLeaving = 0;
    const written = await tokensOf(async () => {
      const request = fetch(`${service.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ messages: 'Once', ...endless, stream }),
        signal: leaving.signal,
      }).then((response) => response.text());
      await expect.poll(writtenTokens, { interval: 5 }).toBeGreaterThanOrEqual(before + 10);
      atLeaving = (await writtenTokens()) - before;
      leaving.abort();
      await expect(request).rejects.toThrow(/abort/);
    });
    // What is written between the last look at the metrics and the arrival of the disconnect.
    expect(written).toBeLessThanOrEqual(atLeaving + slack);
  });

  it('stops all answers of a request', async () => {
    const perChoice = [0, 0, 0];
    const written = await tokensOf(async () => {
      for await (const { choice } of client.stream(generate, { messages, ...endless, n: 3 })) {
        perChoice[choice]! += 1;
        if (perChoice[choice] === 5) break;
      }
    });
    expect(written).toBeLessThanOrEqual(perChoice.reduce((sum, count) => sum + count) + 3 * slack);
  });

  it('stops by itself once a grounded answer is settled', async () => {
    const text = 'Tea is served in the garden at 5 pm.';
    const documents = [{ id: 'a', text, score: 1 }];
    const ask = [{ role: 'user' as const, content: 'When is tea served?' }];
    let answer = '';
    const written = await tokensOf(async () => {
      for await (const chunk of client.stream(generate, { messages: ask, documents, ...endless }))
        answer += chunk.text;
    });
    expect(answer).toBe(`${text} [1]`);
    expect(written).toBeLessThan(40);
  });
});
