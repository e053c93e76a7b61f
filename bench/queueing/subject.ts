/**
 * Predicts the number of instances for a load. The times of the nodes of a chat are measured, and a queueing model
 * predicts throughput and p99 from them. Instances of a service with the same times check the model at 1, 2 and 4
 * instances over NATS. Then the model predicts up to 100,000 requests per second.
 */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { MessagingConnection, RpcClient } from '#platform/messaging';
import { startNats, startStack, type ServiceName } from '#platform/testing';
import { quantile } from '../harness/interleave.js';
import { table } from '../harness/markdown.js';
import type { Subject } from '../harness/subject.js';
import { processMetrics } from '../services/process-metrics.js';
import { startStepService, step } from '../services/step-service.js';
import { arrivalsOf, instancesFor, mean, predict, seededRandom, summarize, type Station } from './model.js';

const chats = 60;
const nodes = ['embedding', 'retrieval', 'reranking', 'llm'] as const;
const services: readonly ServiceName[] = ['gateway', ...nodes];
/** Utilization of the instances in the check. */
const busy = 0.6;
const checked = 500;
const rates = [100, 1_000, 10_000, 100_000];
/** Requests of a simulation. */
const simulated = 20_000;
const topics = ['Amber', 'Basalt', 'Cobalt', 'Dolomite', 'Emerald', 'Feldspar'];

interface Measured {
  /** Milliseconds of each node in each chat. */
  times: Map<string, number[]>;
  /** Processor milliseconds of a chat, by service. */
  cpuMs: Map<string, number>;
}

/** Runs chats one after the other, each alone on the stack. */
async function measureChats(): Promise<Measured> {
  const stack = await startStack({ services: [...services, 'dataprep'] });
  try {
    const url = stack.service('gateway').url;
    await ingestTopics(url);
    await ask(url, 0);
    const before = await Promise.all(services.map((name) => processMetrics(stack.service(name).url)));
    const times = new Map<string, number[]>(nodes.map((node) => [node, []]));
    for (let index = 1; index <= chats; index++) {
      const timing = await ask(url, index);
      for (const node of nodes)
        times.get(node)!.push(Number(new RegExp(`${node};dur=([\\d.]+)`).exec(timing)?.[1]));
    }
    const after = await Promise.all(services.map((name) => processMetrics(stack.service(name).url)));
    const cpuMs = services.map((name, index) => {
      const seconds = after[index]!.cpuSeconds - before[index]!.cpuSeconds;
      return [name, (seconds * 1_000) / chats] as const;
    });
    return { times, cpuMs: new Map(cpuMs) };
  } finally {
    await stack.stop();
  }
}

async function ingestTopics(url: string): Promise<void> {
  const form = new FormData();
  for (const [index, topic] of topics.entries()) {
    const text = `# ${topic} office\n\nThe ${topic} office gives ${20 + index} days of vacation a year.`;
    form.append('files', new Blob([text]), `${topic}.md`);
  }
  const answer = await fetch(`${url}/v1/dataprep/ingest`, { method: 'POST', body: form });
  if (!answer.ok) throw new Error(`ingest: ${answer.status} ${await answer.text()}`);
}

/** Runs one chat; returns the times of its nodes. */
async function ask(url: string, index: number): Promise<string> {
  const content = `How many days of vacation does the ${topics[index % topics.length]} office give?`;
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'chatqna', messages: [{ role: 'user', content }] }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${text}`);
  return answer.headers.get('server-timing') ?? '';
}

/**
 * Sends requests at the times of a Poisson process to instances with the times of a node, with one call at a time each.
 */
async function check(count: number, samples: readonly number[], client: RpcClient) {
  const random = seededRandom(count);
  const perSecond = (count * busy * 1_000) / mean(samples);
  const arrivals = arrivalsOf(checked, perSecond, random);
  const startedAt = performance.now();
  const all = await Promise.all(
    arrivals.map(async (at) => {
      const waitMs = samples[Math.floor(random() * samples.length)]!;
      await wait(Math.max(0, startedAt + at - performance.now()));
      const sent = performance.now() - startedAt;
      const { tookMs = 0 } = await client.request(step, { text: 'x', waitMs, inTurn: true });
      return { sent, ended: performance.now() - startedAt, waitMs, tookMs };
    }),
  );
  const inOrder = all.toSorted((left, right) => left.sent - right.sent);
  const sent = inOrder.map((one) => one.sent);
  return {
    measured: summarize(
      sent,
      inOrder.map(({ ended }) => ended),
    ),
    sent,
    waits: inOrder.map(({ waitMs }) => waitMs),
    /** Overhead of a timer beyond its time. */
    overheadMs: mean(inOrder.map(({ tookMs, waitMs }) => tookMs - waitMs)),
  };
}

const percent = (measured: number, predicted: number) => `${((predicted / measured - 1) * 100).toFixed(0)} %`;

/** Rows that compare prediction and measurement. `samples`: times of the slowest node. */
async function checkAll(samples: readonly number[]): Promise<(string | number)[][]> {
  const nats = await startNats();
  const connection = await MessagingConnection.open({ url: nats.url, name: 'bench' });
  const client = new RpcClient(connection);
  const running: ChildProcess[] = [];
  const rows: (string | number)[][] = [];
  try {
    let overhead: number | undefined;
    for (const count of [1, 2, 4]) {
      while (running.length < count) running.push(await startStepService(nats.url));
      await client.request(step, { text: 'who is there?' });
      await wait(1_000);
      const { measured, sent, waits, overheadMs } = await check(count, samples, client);
      // Measured with one instance and used for all.
      overhead ??= overheadMs;
      const times = waits.map((ms) => ms + overhead!);
      const predicted = predict([{ name: 'step', instances: count, workers: 1, times, inOrder: true }], sent);
      rows.push([
        count,
        measured.perSecond.toFixed(1),
        predicted.perSecond.toFixed(1),
        percent(measured.perSecond, predicted.perSecond),
        measured.p99Ms.toFixed(0),
        predicted.p99Ms.toFixed(0),
        percent(measured.p99Ms, predicted.p99Ms),
      ]);
    }
  } finally {
    for (const child of running) child.disconnect();
    client.close();
    await connection.close();
    await nats.stop();
  }
  return rows;
}

/** Instances for 10² to 10⁵ chats per second. */
function predictAll({ times, cpuMs }: Measured): (string | number)[][] {
  const cores = mean([...cpuMs.values()]) * cpuMs.size;
  return rates.map((rate) => {
    const stations: Station[] = nodes.map((name) => {
      const station = { name, workers: 1, times: times.get(name)! };
      return { ...station, instances: instancesFor(rate, station) };
    });
    const arrivals = arrivalsOf(simulated, rate, seededRandom(rate));
    const { p50Ms, p99Ms } = predict(stations, arrivals, rate > 1_000 ? 1 : 3);
    const instances = stations.map(({ instances: count }) => count);
    return [rate, ...instances, Math.ceil((rate * cores) / 1_000 / 0.7), p50Ms.toFixed(0), p99Ms.toFixed(0)];
  });
}

/** The queueing model: its inputs, the quality of its predictions, and predictions for large installations. */
export const subject: Subject = {
  async run() {
    const measured = await measureChats();
    const slowest = [...measured.times].toSorted(([, a], [, b]) => mean(b) - mean(a))[0]!;
    const checkedRows = await checkAll(slowest[1]);
    const timeRows = nodes.map((node) => {
      const values = measured.times.get(node)!;
      const cells = [mean(values), quantile(values, 0.5), quantile(values, 0.99)].map((ms) => ms.toFixed(1));
      return [node, ...cells, measured.cpuMs.get(node)!.toFixed(1)];
    });
    const all = [...measured.cpuMs.values()].reduce((sum, ms) => sum + ms, 0);
    const gateway = measured.cpuMs.get('gateway')!.toFixed(1);
    return [
      '## Queueing model',
      `The times of ${chats} chats of \`chatqna\`, one at a time, feed the model; processor time is that of the service's process in a chat.`,
      table(
        ['node', 'mean, ms', 'p50, ms', 'p99, ms', 'processor time, ms'],
        [...timeRows, ['gateway', '', '', '', gateway]],
      ),
      `The check: ${checked} requests of a Poisson process over NATS to 1, 2 and 4 processes that take the times of ${slowest[0]} (they wait, so that a
machine of two cores can run four), ${busy * 100} % busy. The model gets the arrivals and the time of each request, and predicts who waits for whom.`,
      table(
        ['instances', 'measured, /s', 'predicted, /s', 'off', 'measured p99, ms', 'predicted p99, ms', 'off'],
        checkedRows,
      ),
      'Instances of each service at most 70 % busy, the cores of all services (Postgres and NATS not counted), and the time of a chat:',
      table(['chats/s', ...nodes, 'cores', 'p50, ms', 'p99, ms'], predictAll(measured)),
      `A million chats take ${((all * 1_000_000) / 3_600_000).toFixed(0)} core hours (${all.toFixed(0)} ms a chat).`,
    ].join('\n\n');
  },
};
