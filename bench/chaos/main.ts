/**
 * Runs all of MegaNest under load while its parts are killed: `npm run bench:chaos -- [--seconds 180] [--kill-every 10]
 * [--retries 2] [--away 5] [--full-disk 30] [--chats 8] [--ingests 2] [--runs 2] [--speakers 1]`. Two instances of each
 * service behind a balancer that skips gateways that refuse connections, three NATS servers, and a native Postgres if
 * installed (otherwise the embedded one, which is not killed). Every few seconds an instance is killed, in turns; a
 * NATS server and Postgres are unavailable twice each; once an instance is frozen, and once the disk of the three NATS
 * servers is full for 30 s (as root; it is a tmpfs). Exits with 1 if data is lost, duplicated or incomplete, if a
 * request hangs, if more than 0.5 % fail, or if the resident memory does not return to within 10 %.
 */
import { loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  allServices,
  findProgramsWithVector,
  nativePostgres,
  programsWithVector,
  startBalancer,
  startDatabase,
  startNatsCluster,
  startService,
  createTemporaryDirectory,
  type NatsNode,
  type ServiceName,
  type TestDatabase,
  type TestService,
} from '#platform/testing';
import { canMakeDisks, makeSmallDisk, type SmallDisk } from '../../test/support/small-disk.js';
import { table } from '../harness/markdown.js';
import { Saboteur } from '../load/saboteur.js';
import { processMetrics, settledPendingOperations } from '../services/process-metrics.js';
import { keepBusy, type Ledger } from './clients.js';
import type { Answered } from './persistent-fetch.js';
import { isAcknowledged, verify, type Verdict } from './verify.js';

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '180' },
    'kill-every': { type: 'string', default: '10' },
    retries: { type: 'string', default: '2' },
    away: { type: 'string', default: '5' },
    'full-disk': { type: 'string', default: '30' },
    speakers: { type: 'string', default: '1' },
    chats: { type: 'string', default: '8' },
    ingests: { type: 'string', default: '2' },
    runs: { type: 'string', default: '2' },
  },
});
const seconds = Number(flags.seconds);
const awayMs = Number(flags.away) * 1000;
const limitMs = 120_000;
const names = allServices;
const fullDiskMs = canMakeDisks() ? Number(flags['full-disk']) * 1000 : 0;
const diskMegabytes = 512;
/** Memory of all services after the run, above that before it. */
const maxGrown = 0.1;
/** Work before the first fault. */
const warmUpMs = 20_000;
/** Time for services to give memory back. */
const memoryBackMs = 60_000;
const topics = ['Amber', 'Basalt', 'Cobalt', 'Dolomite', 'Emerald', 'Feldspar', 'Garnet', 'Hematite'];
const questions = topics.map((topic) => `How many days of vacation does the ${topic} office give?`);

async function ingestTopics(gatewayUrl: string): Promise<void> {
  const form = new FormData();
  for (const [index, topic] of topics.entries()) {
    const text = `# ${topic} office\n\nThe ${topic} office gives ${20 + index} days of vacation a year.`;
    form.append('files', new Blob([text]), `${topic}.md`);
  }
  const answer = await fetch(`${gatewayUrl}/v1/dataprep/ingest`, { method: 'POST', body: form });
  if (!answer.ok) throw new Error(`ingest: ${answer.status} ${await answer.text()}`);
}

async function startServices(env: NodeJS.ProcessEnv): Promise<Map<ServiceName, TestService>> {
  const services = new Map<ServiceName, TestService>();
  for (const name of names) services.set(name, await startService(name, env));
  return services;
}

/** A native Postgres if installed, with pgvector, which is built if it is missing. */
async function startDatabaseToKill(): Promise<TestDatabase> {
  const version = nativePostgres();
  if (version !== undefined && 'reason' in findProgramsWithVector()) await programsWithVector(version);
  return startDatabase();
}

/** Stops a part for a while. */
async function takeAway(part: { kill(): Promise<void>; start(): Promise<void> }): Promise<void> {
  await part.kill();
  await wait(awayMs);
  await part.start();
}

/** Calls each of the steps at its share of the time; resolves when the time is over. */
async function follow(steps: readonly (readonly [share: number, step: () => unknown])[]): Promise<void> {
  let passed = 0;
  for (const [share, step] of steps) {
    await wait((share - passed) * seconds * 1000);
    passed = share;
    await step();
  }
}

/** Resident memory in MiB of the instances of each service. */
async function residentOf(saboteur: Saboteur): Promise<Map<string, number>> {
  const ofService = async (name: (typeof names)[number]) => {
    const metrics = await Promise.all(saboteur.urlsOf(name).map(processMetrics));
    return [name, metrics.reduce((sum, { residentBytes }) => sum + residentBytes, 0) / 2 ** 20] as const;
  };
  return new Map(await Promise.all(names.map(ofService)));
}

const totalOf = (resident: Map<string, number>) =>
  [...resident.values()].reduce((sum, value) => sum + value, 0);

/** The memory once it is at most a tenth more than before, or after the time for memory to be given back. */
async function settledMemory(saboteur: Saboteur, before: number): Promise<Map<string, number>> {
  const end = Date.now() + memoryBackMs;
  for (;;) {
    const resident = await residentOf(saboteur);
    if (Math.abs(totalOf(resident) / before - 1) <= maxGrown || Date.now() > end) return resident;
    await wait(1_000);
  }
}

function row(name: string, answers: readonly Answered[], isDone = isAcknowledged): (string | number)[] {
  const failed = answers.filter((answer) => !isDone(answer));
  const retried = answers.filter((answer) => isDone(answer) && answer.attempts > 1).length;
  const slowest = Math.max(0, ...answers.map(({ slowestMs }) => slowestMs));
  return [name, answers.length, retried, failed.length, Math.round(slowest)];
}

function report(ledger: Ledger, verdict: Verdict): { failed: number; all: number; slowestMs: number } {
  const ofRuns = ledger.runs.map(({ answer, status }) => ({
    ...answer,
    status: status === 'completed' ? answer.status : 0,
  }));
  const ofDocuments = ledger.documents.map(({ answer }) => answer);
  const rows = [
    row('chats', ledger.chats),
    row('ingests', ofDocuments),
    row('background runs', ofRuns),
    row('speech', ledger.speech),
  ];
  console.log(
    table(
      ['', 'requests', 'answered after a retry', 'failed after all retries', 'slowest attempt, ms'],
      rows,
    ),
  );
  console.log(
    `\nLost: ${verdict.lost.length}, doubled: ${verdict.doubled.length}, half: ${verdict.half.length}`,
  );
  for (const line of [...verdict.lost, ...verdict.doubled, ...verdict.half]) console.log(`  ${line}`);
  const all = [...ledger.chats, ...ofDocuments, ...ofRuns, ...ledger.speech];
  const failures = all.filter((answer) => !isAcknowledged(answer));
  for (const { status, attempts, text } of failures)
    console.log(`  failed after ${attempts} attempts: ${status} ${text.slice(-300)}`);
  return {
    failed: failures.length,
    all: all.length,
    slowestMs: Math.max(...all.map(({ slowestMs }) => slowestMs)),
  };
}

/**
 * Fills a disk for a while. A server of a cluster then turns JetStream off until it is restarted, so
 * the servers are restarted one after the other, like by liveness probes in Kubernetes.
 */
async function fillUp(disk: SmallDisk, nodes: readonly NatsNode[]): Promise<void> {
  disk.fill();
  await wait(fullDiskMs);
  disk.makeRoom();
  for (const node of nodes) {
    await node.kill();
    await node.start();
  }
}

const directory = await createTemporaryDirectory();
const disk = fullDiskMs > 0 ? makeSmallDisk(diskMegabytes) : undefined;
const [nats, database] = await Promise.all([startNatsCluster(3, disk?.path), startDatabaseToKill()]);
const env = {
  NATS_URL: nats.url,
  NATS_BUCKET_REPLICAS: '3',
  DATABASE_URL: database.url,
  NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS,
  MEGANEST_DATA_DIR: directory.path,
  REQUEST_TIMEOUT_MS: String(limitMs - 5_000),
  RATE_LIMIT_PER_MINUTE: '0',
};
let saboteur: Saboteur | undefined;
try {
  saboteur = await Saboteur.start(env, await startServices(env));
  const gateways = saboteur.urlsOf('gateway');
  const balancer = await startBalancer(gateways);
  await ingestTopics(gateways[0]!);
  const over = new AbortController();
  const patience = { retries: Number(flags.retries), limitMs };
  const work = keepBusy(
    { url: balancer.url, patience, questions, signal: over.signal },
    {
      chats: Number(flags.chats),
      ingests: Number(flags.ingests),
      runs: Number(flags.runs),
      speakers: Number(flags.speakers),
    },
  );
  // Processes that have just started have not taken the memory yet that work needs.
  await wait(warmUpMs);
  const before = await residentOf(saboteur);
  saboteur.killEvery(Number(flags['kill-every']));
  const { native } = database;
  await follow([
    [0.15, () => takeAway(nats.nodes[0]!)],
    [0.35, () => native && takeAway(native)],
    [0.45, () => saboteur!.suspend('llm', 10)],
    [0.5, () => disk && fillUp(disk, nats.nodes)],
    [0.7, () => takeAway(nats.nodes[1]!)],
    [0.85, () => native && takeAway(native)],
    [1, () => saboteur!.rest()],
  ]);
  over.abort();
  const ledger = await work;
  const pending = await settledPendingOperations(gateways);
  const after = await settledMemory(saboteur, totalOf(before));
  console.log(
    `${seconds} s, ${saboteur.killed} instances killed, NATS ${nats.nodes.length} servers, ${native ? 'native' : 'embedded'} Postgres, disk full for ${fullDiskMs / 1000} s, ${flags.retries} retries, load ${loadavg()[0]?.toFixed(1)}\n`,
  );
  const verdict = await verify(ledger, gateways[0]!, database.url);
  const { failed, all, slowestMs } = report(ledger, verdict);
  console.log(
    `\nFailed after all retries: ${((100 * failed) / all).toFixed(2)} % of ${all}. Operations still pending: ${pending}. Resident memory of all services: ${totalOf(before).toFixed(0)} MiB before, ${totalOf(after).toFixed(0)} after.\n`,
  );
  const memory = names.map((name) => [name, before.get(name)!.toFixed(0), after.get(name)!.toFixed(0)]);
  console.log(table(['MiB', 'before', 'after'], memory));
  const broken = verdict.lost.length + verdict.doubled.length + verdict.half.length + pending;
  const grown = Math.abs(totalOf(after) / totalOf(before) - 1);
  if (broken > 0 || failed > 0.005 * all || slowestMs > limitMs || grown > maxGrown) process.exitCode = 1;
  await balancer.close();
} finally {
  await saboteur?.stop().catch((error: unknown) => console.error(error));
  await nats.stop();
  disk?.remove();
  await database.stop();
  await directory.remove();
}
