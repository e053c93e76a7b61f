import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askerOf, newClient } from './helpers/response-events.js';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';

/** RESPONSE_CHAINS=20 measures as docs/benchmarks.md does; a test needs fewer. */
const chains = Number(process.env.RESPONSE_CHAINS ?? 2);
const depth = 50;
const samples = 25;
/** Far above what 50 steps cost on any machine (8 ms), below what reading each step by itself would cost a busy one. */
const allowedMs = 500;

let stack: ScriptedStack;
let client: OpenAI;
const { create } = askerOf(() => client);

beforeAll(async () => {
  stack = await startScriptedStack();
  client = newClient(stack.gateway.url);
});
afterAll(() => stack?.stop());

async function chainOf(length: number): Promise<string> {
  let previous: string | undefined;
  for (let link = 0; link < length; link += 1)
    previous = (await create({ input: `x${link}`, previous_response_id: previous })).id;
  return previous ?? '';
}

async function timeOf(previous: string | undefined): Promise<number> {
  const start = performance.now();
  await create({ input: 'next', previous_response_id: previous });
  return performance.now() - start;
}

function median(times: number[]): number {
  return times.sort((a, b) => a - b)[times.length >> 1] ?? Infinity;
}

describe(`${chains * depth} stored responses, chained ${depth} deep`, () => {
  it('make the next one hardly dearer than the first', async () => {
    const ends = await Promise.all(Array.from({ length: chains }, () => chainOf(depth)));
    const times = { alone: [] as number[], chained: [] as number[] };
    // In turns, so that what else the machine does falls on both alike.
    for (let sample = 0; sample < samples; sample += 1) {
      times.alone.push(await timeOf(undefined));
      times.chained.push(await timeOf(ends[sample % chains]));
    }
    const [alone, chained] = [median(times.alone), median(times.chained)];
    console.info(
      `create: ${alone.toFixed(1)} ms alone, ${chained.toFixed(1)} ms behind ${depth} others (p50)`,
    );
    expect(chained - alone).toBeLessThan(allowedMs);
  });
});
