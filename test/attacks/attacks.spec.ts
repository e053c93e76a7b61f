import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { builtFile } from '#platform/foundation';
import { createTemporaryDirectory } from '#platform/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LauncherProcess } from '../support/launcher-process.js';
import { p95, type Experience } from './small-requests.js';
import { attacks } from './attacks.js';
import { clientOf, type Ask } from './client.js';
import { routesOf, sendHostileBodies } from './hostile-bodies.js';

const keys = { alice: 'alice-key-0123456789abcdef', bob: 'bob-key-0123456789abcdefgh' };
/** `ATTACKS=short`: some attacks, for each run of CI. */
const isShort = process.env['ATTACKS'] === 'short';
/** Milliseconds by which alice's requests may be slower, and for which they are measured alone. */
const maxSlowerMs = 500;
const aloneMs = isShort ? 3_000 : 20_000;
/** Bodies from `ATTACKS_FROM` on; a run that was cut off goes on with the last number that it printed. */
const seed = process.env['ATTACKS_SEED'] ?? 'doors';
const from = Number(process.env['ATTACKS_FROM'] ?? 0);
const bodies = Number(process.env['ATTACKS_BODIES'] ?? (isShort ? 100 : 2_000));
const bodiesAtOnce = 1_000;

let launcher: LauncherProcess;
let directory: Awaited<ReturnType<typeof createTemporaryDirectory>>;
let ask: Ask;
let alone: Experience;

/** Measures alice's requests while work runs. */
async function during(work: Promise<unknown>): Promise<Experience> {
  const workerData = { url: launcher.urlOf('gateway'), key: keys.alice };
  const worker = new Worker(builtFile('small-requests.worker'), { workerData });
  const answer = once(worker, 'message');
  await work.finally(() => worker.postMessage('end', []));
  const [experience] = (await answer) as [Experience];
  return experience;
}

beforeAll(async () => {
  directory = await createTemporaryDirectory();
  const path = join(directory.path, 'keys.json');
  const entries = Object.entries(keys).map(([name, key]) => ({
    name,
    sha256: createHash('sha256').update(key).digest('hex'),
    scopes: ['read', 'write'],
  }));
  writeFileSync(path, JSON.stringify({ keys: entries }));
  const environment = { API_KEYS_FILE: path, MEGANEST_SAMPLE_DOCUMENTS: 'false' };
  launcher = new LauncherProcess(join(directory.path, 'data'), environment);
  await launcher.ready();
  ask = clientOf(launcher.urlOf('gateway'), keys.bob);
  // The first requests warm up.
  await during(Promise.resolve());
  alone = await during(new Promise((resolve) => setTimeout(resolve, aloneMs)));
}, 300_000);

afterAll(async () => {
  await launcher?.stop();
  await directory?.remove();
}, 60_000);

/** Lines of the launcher about processes that hung, died or were killed. */
const deaths = () => launcher.lines.filter((line) => /\b(died|killed)\b/.test(line));

/** Prints the highest of alice's latencies beside those without bob, and returns probes that are slower than allowed. */
function slower(name: string, experience: Experience): string[] {
  const compared = Object.entries(experience.latencies).map(([probe, values]) => {
    const [with_, without] = [p95(values), p95(alone.latencies[probe] ?? [])];
    return {
      text: `${probe} ${Math.round(without)}→${Math.round(with_)}`,
      isSlow: with_ > without + maxSlowerMs,
    };
  });
  console.log(`${name}: ${compared.map(({ text }) => text).join(', ')}`);
  return compared.filter(({ isSlow }) => isSlow).map(({ text }) => text);
}

describe('attacks of one key', () => {
  it('are not needed: without them every request is answered', () => expect(alone.failures).toEqual([]));

  it.each(attacks.filter(({ short }) => short || !isShort))(
    '$name: another key is answered as before',
    async ({ name, run, refused }) => {
      const over = AbortSignal.timeout(60_000);
      const answers = run(ask, over);
      const experience = await during(answers);
      const statuses: Record<number, number> = {};
      for (const { status } of await answers) statuses[status] = (statuses[status] ?? 0) + 1;
      const refusal = (await answers).find(({ status }) => [400, 413, 429].includes(status));
      const slow = slower(
        `${name} ${JSON.stringify(statuses)} ${refusal?.text.slice(0, 160) ?? ''}`,
        experience,
      );
      expect(deaths()).toEqual([]);
      expect(experience.failures).toEqual([]);
      // The refusal is a sentence that names the limit.
      const named = refusal !== undefined && /\d/.test(refusal.text);
      expect({ named, ended: !Object.keys(statuses).some((status) => Number(status) >= 500) }).toEqual({
        named: refused ? true : named,
        ended: true,
      });
      expect(slow).toEqual([]);
    },
    180_000,
  );

  it(
    'answers random hostile bodies without an error of its own',
    async () => {
      const routes = await routesOf(ask);
      for (let start = from; start < from + bodies; start += bodiesAtOnce) {
        const to = Math.min(from + bodies, start + bodiesAtOnce);
        expect(await sendHostileBodies(ask, routes, { seed, from: start, to })).toEqual([]);
        console.log(`hostile bodies up to ${to}`);
      }
      expect(deaths()).toEqual([]);
    },
    24 * 3_600_000,
  );
});
