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
import { faultsOf } from './short-form.js';

const keys = { alice: 'alice-key-0123456789abcdef', bob: 'bob-key-0123456789abcdefgh' };
/** Milliseconds by which alice's requests may be slower, and for which they are measured alone. */
const maxSlowerMs = 500;
const aloneMs = 20_000;

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

  it.each(attacks)(
    '$name: another key is answered as before',
    async ({ name, run, refused }) => {
      const over = AbortSignal.timeout(60_000);
      const answers = run(ask, over);
      const experience = await during(answers);
      const statuses: Record<number, number> = {};
      for (const { status } of await answers) statuses[status] = (statuses[status] ?? 0) + 1;
      const slow = slower(`${name} ${JSON.stringify(statuses)}`, experience);
      expect(deaths()).toEqual([]);
      expect(experience.failures).toEqual([]);
      expect(faultsOf(await answers, refused ?? false)).toEqual([]);
      expect(slow).toEqual([]);
    },
    180_000,
  );
});
