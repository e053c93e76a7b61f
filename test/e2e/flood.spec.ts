import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';

const megabyte = 1024 * 1024;
const bodies = 120;

let stack: ScriptedStack;
beforeAll(async () => {
  stack = await startScriptedStack({ BODIES_LIMIT_BYTES: String(64 * megabyte) });
});
afterAll(() => stack?.stop());

/** Resident bytes of the gateway, by its own metric. */
async function memory(): Promise<number> {
  const text = await (await fetch(`${stack.gateway.url}/metrics`)).text();
  return Number(/^process_resident_memory_bytes\S* (\S+)/m.exec(text)?.[1]);
}

describe('a flood of great bodies', () => {
  it('is refused beyond a bound before it is read: memory stays bounded, probes are answered', async () => {
    const before = await memory();
    const body = JSON.stringify({
      model: 'scripted',
      messages: [{ role: 'user', content: 'x'.repeat(9 * megabyte) }],
    });
    const send = async () => {
      const answer = await fetch(`${stack.gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      }).catch(() => undefined);
      await answer?.arrayBuffer();
      return { status: answer?.status ?? 0, retryAfter: answer?.headers.get('retry-after') };
    };
    let peak = before;
    const over = new AbortController();
    const watch = async () => {
      while (!over.signal.aborted) peak = Math.max(peak, await memory());
    };
    const watched = watch();
    const answers = await Promise.all(Array.from({ length: bodies }, send));
    over.abort();
    await watched;
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(bodies / 2);
    expect(refused.every(({ retryAfter }) => retryAfter === '1')).toBe(true);
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    // Without the bound it would be 1 GiB of texts and more.
    expect((peak - before) / megabyte).toBeLessThan(700);
    expect((await fetch(`${stack.gateway.url}/ready`)).status).toBe(200);
  });
});

describe('a flood of probes', () => {
  it('asks the services behind the gateway once a second, however many come', async () => {
    const { witness, gateway } = stack;
    // Of the scripted services one is missing, which the second one says with a 503.
    const paths = ['/ready', '/v1/health_check'];
    const before = witness.healthAsked;
    const startedAt = performance.now();
    const probes = Array.from({ length: 400 }, async (_unused, index) => {
      const answer = await fetch(gateway.url + paths[index % paths.length]!);
      await answer.arrayBuffer();
      return answer.status;
    });
    const statuses = await Promise.all(probes);
    expect(new Set(statuses.filter((_status, index) => index % 2 === 0))).toEqual(new Set([200]));
    const seconds = Math.ceil((performance.now() - startedAt) / 1_000);
    const asked = witness.healthAsked - before;
    // The start of the gateway has asked already; a report of less than a second ago is given again.
    expect(witness.healthAsked).toBeGreaterThan(0);
    expect(asked).toBeLessThanOrEqual((seconds + 1) * gateway.instances.length);
  });
});
