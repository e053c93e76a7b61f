/**
 * What a second instance of dataprep and of embedding adds, by processor time: `npm run bench -- instances`. Each pair has a core
 * of its own (`taskset`, Linux); NATS, Postgres, the gateways and the client have the time that is left.
 */
import { execFileSync } from 'node:child_process';
import { startService, startStack, type TestService } from '#platform/testing';
import { quantile } from '../harness/interleave.js';
import { table } from '../harness/markdown.js';
import { onNativePostgres } from '../harness/native.js';
import { readFamily } from '../harness/processes.js';
import type { Subject } from '../harness/subject.js';
import { atOnce } from '../inference/texts.js';
import { drawText } from './drawn-texts.js';
import { encodeUpload, send, type EncodedUpload } from './ingest.js';

const wordsOfText = 60;
/**
 * Rounds before those that count. Programs become faster while they run: the first thousand chunks of a dataprep cost twice as
 * much as later ones.
 */
const warmUps = 3;

/** The work of a round. */
interface Load {
  name: string;
  /** Requests for each pair, so that a pair has the same work with and without a second one. */
  requests: number;
  clients: number;
  files: number;
  textsOfFile: number;
  /** All instances share the documents of a job. A request without a job is the work of one dataprep. */
  isJob: boolean;
}

const loads: readonly Load[] = [
  { name: 'requests of 50 small files', requests: 16, clients: 4, files: 50, textsOfFile: 2, isJob: false },
  { name: 'jobs of 800 small files', requests: 1, clients: 1, files: 800, textsOfFile: 2, isJob: true },
  { name: 'jobs of 8 large files', requests: 1, clients: 1, files: 8, textsOfFile: 200, isJob: true },
];

/** A gateway with its pairs: a dataprep and an embedding on a core each. */
interface System {
  url: string;
  pairs: readonly (readonly TestService[])[];
  stop(): Promise<void>;
}

/** The cores of the pairs of each system. */
const systemCores = [[0], [1], [0, 1]];
/** The systems that work at the same time. */
const arrangements = [
  { name: 'one pair', systems: [0] },
  { name: 'two pairs of two systems', systems: [0, 1] },
  { name: 'two pairs of one system', systems: [2] },
];

/** Processor time of a run, in seconds: of each pair, and of all else. */
interface Spent {
  pairs: number[];
  shared: number;
  chunks: number;
}

/** The rounds of a load in one arrangement. */
interface Run {
  load: Load;
  name: string;
  systems: readonly System[];
  spent: Spent[];
}

function taskset(...options: string[]): string {
  return execFileSync('taskset', ['-cp', ...options, String(process.pid)], { encoding: 'utf8' });
}

/** Starts services on one core: they inherit it, and start as many workers as it can run. */
async function startPair(core: number, env: NodeJS.ProcessEnv): Promise<TestService[]> {
  const before = taskset().split(': ').at(-1)!.trim();
  taskset(String(core));
  try {
    return await Promise.all(['dataprep', 'embedding'].map((name) => startService(name, env)));
  } finally {
    taskset(before);
  }
}

async function startSystem(cores: readonly number[]): Promise<System> {
  const stack = await startStack({
    services: ['retrieval', 'reranking', 'llm'],
    env: { RATE_LIMIT_PER_MINUTE: '0', REQUEST_TIMEOUT_MS: '600000' },
  });
  const pairs: TestService[][] = [];
  for (const core of cores) pairs.push(await startPair(core, stack.env));
  const gateway = await startService('gateway', stack.env);
  const stop = async () => {
    await Promise.all([gateway, ...pairs.flat()].map((service) => service.stop()));
    await stack.stop().catch((error: unknown) => console.error(error));
  };
  return { url: gateway.url, pairs, stop };
}

let collections = 0;

/** Encodes the requests of a round. */
async function encodeUploads(load: Load, { pairs }: System): Promise<EncodedUpload[]> {
  const textOf = () => Array.from({ length: load.textsOfFile }, () => drawText(wordsOfText)).join('\n\n');
  const ofPair = () => {
    // One of its own: the index of a collection that grew would be built meanwhile.
    const collection = `instances-${(collections += 1)}`;
    return Array.from({ length: load.requests }, () =>
      encodeUpload(Array.from({ length: load.files }, textOf), collection),
    );
  };
  return Promise.all(pairs.flatMap(ofPair));
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** Processor time of the pairs and of all processes so far. */
function readSeconds(systems: readonly System[]): { pairs: number[]; all: number } {
  const family = readFamily();
  const secondsOf = (services: readonly TestService[]) => {
    const pids = new Set(services.map((service) => service.process.pid));
    return sum(family.filter(({ pid }) => pids.has(pid)).map(({ seconds }) => seconds));
  };
  const pairs = systems.flatMap((system) => system.pairs.map(secondsOf));
  return { pairs, all: sum(family.map(({ seconds }) => seconds)) };
}

/** The processor time of one round. */
async function spend({ load, systems }: Run): Promise<Spent> {
  const uploads = await Promise.all(systems.map((system) => encodeUploads(load, system)));
  const headers = load.isJob ? { prefer: 'respond-async, wait=600' } : undefined;
  const before = readSeconds(systems);
  const ingest = ({ url }: System, index: number) =>
    atOnce(uploads[index]!, load.clients, (upload) => send(url, upload, headers));
  await Promise.all(systems.map(ingest));
  const after = readSeconds(systems);
  const pairs = after.pairs.map((seconds, index) => seconds - before.pairs[index]!);
  const shared = after.all - before.all - sum(pairs);
  return { pairs, shared, chunks: pairs.length * load.requests * load.files * load.textsOfFile };
}

/**
 * The rounds of all arrangements in turns, so that a busy machine slows them alike. All systems run from the beginning, and their
 * pairs have done the same work before the rounds that count.
 */
async function measure(rounds: number): Promise<Run[]> {
  const systems: System[] = [];
  try {
    for (const cores of systemCores) systems.push(await startSystem(cores));
    const runs = loads.flatMap((load) =>
      arrangements.map(({ name, systems: chosen }): Run => {
        return { load, name, systems: chosen.map((index) => systems[index]!), spent: [] };
      }),
    );
    for (let round = -warmUps; round < rounds; round += 1)
      for (const run of runs) {
        const spent = await spend(run);
        if (round >= 0) run.spent.push(spent);
      }
    return runs;
  } finally {
    for (const system of systems) await system.stop();
  }
}

/** Chunks in a second of the busiest core of a pair: the other pairs wait for nothing else. */
const rateOf = ({ pairs, chunks }: Spent) => chunks / Math.max(...pairs);
/** Chunks in a second of the core of an average pair. */
const averageRateOf = ({ pairs, chunks }: Spent) => chunks / sum(pairs);

/** The rows of one load: one pair, two pairs of two systems, two pairs of one system. The figures are medians of the rounds. */
function rowsOf(runs: readonly Run[]): string[][] {
  const [alone, apart] = runs as [Run, Run];
  return runs.map(({ load, name, spent }) => {
    const median = (figure: (spent: Spent, round: number) => number) => quantile(spent.map(figure), 0.5);
    const shares = spent[0]!.pairs.map((_seconds, pair) =>
      median(({ pairs }) => (100 * pairs[pair]!) / sum(pairs)),
    );
    return [
      `${load.name}, ${name}`,
      median(({ pairs, chunks }) => (1_000 * sum(pairs)) / chunks).toFixed(2),
      shares.map((share) => `${share.toFixed(0)} %`).join(', '),
      median(({ shared, chunks }) => (1_000 * shared) / chunks).toFixed(2),
      median(rateOf).toFixed(0),
      median((round, at) => rateOf(round) / rateOf(alone.spent[at]!)).toFixed(2),
      median((round, at) => rateOf(round) / averageRateOf(apart.spent[at]!)).toFixed(2),
    ];
  });
}

export const subject: Subject = {
  async run({ rounds }) {
    const native = await onNativePostgres(() => measure(rounds));
    const runs = typeof native === 'string' ? await measure(rounds) : native;
    const rows = loads.flatMap((load) => rowsOf(runs.filter((run) => run.load === load)));
    const head = [
      '',
      'dataprep and embedding, ms a chunk',
      'share of each pair',
      'all else, ms a chunk',
      'chunks a second of the busiest core',
      'times one pair',
      'times a pair of two systems',
    ];
    return ['## A second instance', introduction, table(head, rows)].join('\n\n');
  },
};

const introduction = `Uploads of files with texts of ${wordsOfText} words, a chunk each: requests of small files (two texts each), four at a time; and jobs, one at a time, of
small and of large files (200 texts each), which all instances of dataprep share. A pair is a dataprep and an embedding on one core. The
arrangements work in turns; figures are medians. A rate is that of the chunks for each second of the busiest pair's processor time, since two
cores have no room for the shared parts (NATS, Postgres, gateway, client). The last column compares with an average pair of two systems that
share nothing, so that only the cost of sharing the work is left.`;
