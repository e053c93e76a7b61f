import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askerOf, newClient } from './helpers/response-events.js';
import { startScriptedStack, type ScriptedStack } from './helpers/scripted-stack.js';

const chains = 20;
const depth = 50;
const samples = 25;
/** What the deepest chain may cost on top of none, in milliseconds at the median. */
const allowedMs = 20;

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

describe('1,000 stored responses, chained 50 deep', () => {
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
