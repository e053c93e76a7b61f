/**
 * What a second instance of dataprep and of embedding adds, by processor time: `npm run bench -- instances`. Each pair has a core
 * of its own (`taskset`, Linux); NATS, Postgres, the gateway and the client have the time that is left.
 */
import { execFileSync } from 'node:child_process';
import { startService, startStack, type TestService, type TestStack } from '#testing';
import { table } from '../harness/markdown.js';
import { onNativePostgres } from '../harness/native.js';
import { readFamily } from '../harness/processes.js';
import type { Subject } from '../harness/subject.js';
import { atOnce } from '../inference/texts.js';
import { drawText } from './drawn-texts.js';
import { encodeUpload, send } from './ingest.js';

const wordsOfText = 60;
const filesOfUpload = 50;
const textsOfFile = 2;
const uploadsOfRound = 24;
const uploadsBefore = 16;
const clients = 4;

/** A dataprep and an embedding on one core. */
interface Pair {
  services: readonly TestService[];
  core: number;
}

/** Processor time of a run, in seconds: of each pair, and of all else. */
interface Spent {
  pairs: number[];
  shared: number;
  chunks: number;
}

function pin({ services, core }: Pair): Pair {
  for (const {
    process: { pid },
  } of services)
    execFileSync('taskset', ['-acp', String(core), String(pid)]);
  return { services, core };
}

function secondsOf(pids: readonly (number | undefined)[]): number {
  return readFamily()
    .filter(({ pid }) => pids.includes(pid))
    .reduce((sum, { seconds }) => sum + seconds, 0);
}

const textOf = () => Array.from({ length: textsOfFile }, () => drawText(wordsOfText)).join('\n\n');
const filesOf = () => Array.from({ length: filesOfUpload }, textOf);

let collections = 0;

/** The processor time that uploads take, after some that do not count. */
async function spend(url: string, pairs: readonly Pair[]): Promise<Spent> {
  const uploadsOf = (length: number) => Array.from({ length }, filesOf);
  // One of its own: the index of a collection that grew would be built meanwhile.
  const collection = `instances-${(collections += 1)}`;
  const sendFiles = async (files: string[]) => send(url, await encodeUpload(files, collection));
  await atOnce(uploadsOf(uploadsBefore), clients, sendFiles);
  const uploads = uploadsOf(uploadsOfRound);
  const pids = pairs.map(({ services }) => services.map((service) => service.process.pid));
  const read = () => ({
    pairs: pids.map(secondsOf),
    all: readFamily().reduce((sum, { seconds }) => sum + seconds, 0),
  });
  const before = read();
  await atOnce(uploads, clients, sendFiles);
  const after = read();
  const ofPairs = after.pairs.map((seconds, index) => seconds - before.pairs[index]!);
  const shared = after.all - before.all - sum(ofPairs);
  return { pairs: ofPairs, shared, chunks: uploadsOfRound * filesOfUpload * textsOfFile };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** One pair and two in turns, so that a busy machine slows both alike. */
async function measure(stack: TestStack, rounds: number): Promise<{ one: Spent[]; two: Spent[] }> {
  const { url } = stack.service('gateway');
  const first = pin({ services: [stack.service('dataprep'), stack.service('embedding')], core: 0 });
  const [one, two]: [Spent[], Spent[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    one.push(await spend(url, [first]));
    const services = await Promise.all(
      ['dataprep', 'embedding'].map((name) => startService(name, stack.env)),
    );
    const second = pin({ services, core: 1 });
    try {
      two.push(await spend(url, [first, second]));
    } finally {
      await Promise.all(services.map((service) => service.stop()));
    }
  }
  return { one, two };
}

/** Sums of all rounds. */
function total(spent: readonly Spent[]): Spent {
  const pairs = spent[0]!.pairs.map((_seconds, index) => sum(spent.map((each) => each.pairs[index]!)));
  return {
    pairs,
    shared: sum(spent.map(({ shared }) => shared)),
    chunks: sum(spent.map(({ chunks }) => chunks)),
  };
}

/** Chunks in a second of the busiest core of a pair: the other pairs wait for nothing else. */
const rateOf = ({ pairs, chunks }: Spent) => chunks / Math.max(...pairs);

function rowOf(name: string, spent: Spent, rate: number): string[] {
  const perChunk = (seconds: number) => ((1_000 * seconds) / spent.chunks).toFixed(2);
  const shares = spent.pairs.map((seconds) => `${((100 * seconds) / sum(spent.pairs)).toFixed(0)} %`);
  return [
    name,
    perChunk(sum(spent.pairs)),
    shares.join(', '),
    perChunk(spent.shared),
    rateOf(spent).toFixed(0),
    (rateOf(spent) / rate).toFixed(2),
  ];
}

export const subject: Subject = {
  async run({ rounds }) {
    const run = async () => {
      const stack = await startStack({
        services: ['embedding', 'retrieval', 'reranking', 'llm', 'dataprep', 'gateway'],
        env: { RATE_LIMIT_PER_MINUTE: '0', REQUEST_TIMEOUT_MS: '600000' },
      });
      try {
        return await measure(stack, rounds);
      } finally {
        await stack.stop().catch((error: unknown) => console.error(error));
      }
    };
    const native = await onNativePostgres(run);
    const { one, two } = typeof native === 'string' ? await run() : native;
    const [alone, both] = [total(one), total(two)];
    const head = [
      '',
      'dataprep and embedding, ms a chunk',
      'share of each pair',
      'all else, ms a chunk',
      'chunks a second of the busiest core',
      'ratio',
    ];
    return [
      '## A second instance',
      introduction,
      table(head, [
        rowOf('one dataprep, one embedding', alone, rateOf(alone)),
        rowOf('two of each', both, rateOf(alone)),
      ]),
    ].join('\n\n');
  },
};

const introduction = `Uploads of ${filesOfUpload} files with ${textsOfFile} texts of ${wordsOfText} words, ${clients} at a time; a dataprep and an embedding on one core, then two
pairs on a core each, in turns. Two cores have no room for the parts that all share, so the clock cannot show the gain; processor
time can: the ratio is that of the chunks for each second of the busiest pair. It holds as long as the shared parts (NATS, Postgres,
gateway, client) have cores of their own: their time a chunk is in the table, and must not grow.`;
