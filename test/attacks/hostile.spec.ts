import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import type { OpenApiDocument } from '#platform/service-kit';
import { allServices, startStack, type ServiceName, type TestStack } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostileBody } from '../e2e/helpers/fuzz/hostile-body.js';
import { Random } from '../e2e/helpers/fuzz/random.js';
import { operationsOf, type Operation } from '../e2e/helpers/fuzz/requests.js';
import { collectable, ProcessWatch } from '../e2e/helpers/fuzz/watch-processes.js';

/** Bodies `HOSTILE_FROM` to `HOSTILE_TO`: a run that was cut off goes on with the last number that it printed. */
const from = Number(process.env['HOSTILE_FROM'] ?? 0);
const to = Number(process.env['HOSTILE_TO'] ?? 1_000_000);
const seed = process.env['HOSTILE_SEED'] ?? 'doors';
const concurrency = Number(process.env['HOSTILE_CONCURRENCY'] ?? 8);
/** Bodies between two looks at the processes, and bodies until the workers have the size of their largest batches. */
const stride = 1_000;
const warmUp = 20_000;
const timeoutMs = 120_000;
const timeout = 24 * 3_600_000;

interface Target {
  service: ServiceName;
  document: OpenApiDocument;
  operations: Operation[];
}

let stack: TestStack;
let watch: ProcessWatch;
let targets: Target[];
let memory: Map<ServiceName, number>;
/** How many answers had each status. */
const statuses = new Map<number, number>();

beforeAll(async () => {
  stack = await startStack({
    env: {
      NODE_OPTIONS: collectable,
      LLM_PREFIX_CACHE_BYTES: String(16 * 1024 * 1024),
      GLIBC_TUNABLES: 'glibc.malloc.arena_max=2:glibc.malloc.mmap_threshold=131072',
    },
  });
  watch = new ProcessWatch(stack);
  const found = await Promise.all(
    allServices.map(async (service) => {
      const answer = await fetch(`${stack.service(service).url}/openapi.json`);
      const document = (await answer.json()) as OpenApiDocument;
      return { service, document, operations: operationsOf(document) };
    }),
  );
  // Half of the bodies go to the gateway.
  targets = found.flatMap((target) =>
    target.service === 'gateway' ? allServices.map(() => target) : [target],
  );
}, 300_000);

afterAll(async () => {
  watch?.stop();
  await stack?.stop();
});

/** The random numbers of a body depend on its number alone. */
function randomOf(number: number): Random {
  return new Random(createHash('sha256').update(`${seed} ${number}`).digest().readUInt32LE(0));
}

/** Sends a body. Returns what is wrong with the answer: a 5xx other than "come again", or none. */
async function faultOf(number: number): Promise<string | undefined> {
  const random = randomOf(number);
  const { service, document, operations } = random.pick(targets);
  const { operation, url, headers, body } = hostileBody(random.pick(operations), document, random);
  const name = `body ${number}: ${service} ${operation.method} ${url.slice(0, 200)}`;
  try {
    const answer = await fetch(stack.service(service).url + url, {
      method: operation.method,
      headers,
      ...(body && { body }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await answer.text();
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const comesAgain = answer.status === 503 && answer.headers.has('retry-after');
    if (answer.status < 500 || comesAgain) return undefined;
    const sent = body ? JSON.stringify(Buffer.from(body).toString('latin1').slice(0, 400)) : '';
    return `${name} ${JSON.stringify(headers)} ${sent}\n   ${answer.status} ${text.slice(0, 300)}`;
  } catch (error) {
    return `${name}: ${inspect(error)}`;
  }
}

/** Sends bodies, a few at a time, and returns what was wrong. Fails when a process has ended. */
async function sendAll(first: number, end: number): Promise<string[]> {
  const faults: string[] = [];
  let next = first;
  const sender = async () => {
    for (let number = next++; number < end; number = next++) {
      const fault = await faultOf(number);
      if (fault === undefined) continue;
      faults.push(fault);
      console.log(fault);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sender));
  // Nothing restarts a process here: one that ended does not answer.
  for (const service of allServices)
    expect([service, (await fetch(`${stack.service(service).url}/live`)).status]).toEqual([service, 200]);
  return faults;
}

describe('hostile bodies', () => {
  it('are answered or refused by every route, and no process ends', { timeout }, async () => {
    const faults: string[] = [];
    for (let first = from; first < to; first += stride) {
      const end = Math.min(to, first + stride);
      faults.push(...(await sendAll(first, end)));
      if (end - from === warmUp || (end === to && !memory)) memory = await watch.settledMemory();
      console.log(`hostile bodies up to ${end}: ${faults.length} faults`, Object.fromEntries(statuses));
    }
    expect(faults).toEqual([]);
  });

  it('leave the memory within a fifth of what it was', { timeout }, async () => {
    const after = await watch.settledMemory();
    const grown = allServices.map((service) => {
      const [before, now] = [memory.get(service) ?? 0, after.get(service) ?? Infinity];
      return { service, before: Math.round(before / 2 ** 20), now: Math.round(now / 2 ** 20) };
    });
    console.log('resident memory in MiB', grown);
    expect(grown.filter(({ before, now }) => now > before * 1.2)).toEqual([]);
  });
});
