/**
 * Sends many mixed requests to the llm service, 32 at a time: complete, cancelled, too long, constrained, with four
 * answers, disconnected, timed out. It checks that all results are expected, that the engine is empty at the end, and
 * that the service's memory is the same as after the first tenth.
 */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { generate, MegaNestError } from '#platform/contracts';
import { MessagingConnection, RpcClient } from '#platform/messaging';
import { createTemporaryDirectory, startNats, startService } from '#platform/testing';
import { table } from '../harness/markdown.js';
import type { Subject } from '../harness/subject.js';
import { atOnce } from '../inference/texts.js';
import { processMetrics } from './process-metrics.js';
import { soakRequest, type SoakRequest } from './soak-requests.js';

const concurrency = 32;
const megabyte = 2 ** 20;

class Soak {
  readonly surprises: string[] = [];
  done = 0;

  constructor(
    private readonly rpc: RpcClient,
    private readonly url: string,
  ) {}

  async run(index: number): Promise<void> {
    const asked = soakRequest(index);
    try {
      const complaint = await (asked.http ? this.overHttp(asked) : this.overNats(asked));
      if (complaint) this.surprises.push(`${index} ${asked.kind}: ${complaint}`);
      else if (asked.expected?.length === 1 && !asked.leaving)
        this.surprises.push(`${index} ${asked.kind}: no error`);
    } catch (error) {
      const code = error instanceof MegaNestError ? error.code : 'no code';
      if (!asked.expected?.includes(code))
        this.surprises.push(`${index} ${asked.kind}: ${code} ${String(error)}`);
    }
    this.done++;
  }

  /** Returns the problem of the answer. */
  private async overNats({ request, leaving, verify }: SoakRequest): Promise<string | undefined> {
    const aborting = new AbortController();
    const deadline = leaving?.deadlineMs === undefined ? undefined : Date.now() + leaving.deadlineMs;
    const texts: string[] = [];
    let received = 0;
    let [ended, cut] = [false, false];
    for await (const chunk of this.rpc.stream(generate, request, { signal: aborting.signal, deadline })) {
      received++;
      texts[chunk.choice] = (texts[chunk.choice] ?? '') + chunk.text;
      ended = chunk.usage !== undefined;
      cut ||= chunk.finishReason === 'length';
      if (leaving?.abort) aborting.abort();
      if (received === leaving?.after) return undefined;
    }
    if (!ended) return 'it ended without its usage';
    // An answer that ended at the length limit may be incomplete.
    return cut ? undefined : verify?.(texts);
  }

  private async overHttp({ request, leaving }: SoakRequest): Promise<string | undefined> {
    const outgoing = httpRequest(`${this.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    outgoing.end(JSON.stringify({ ...request, stream: true }));
    const [answer] = (await once(outgoing, 'response')) as [import('node:http').IncomingMessage];
    if (answer.statusCode !== 200) return `status ${answer.statusCode}`;
    let [body, frames] = ['', 0];
    for await (const piece of answer.setEncoding('utf8') as AsyncIterable<string>) {
      body += piece;
      if (++frames !== leaving?.after) continue;
      answer.destroy();
      return undefined;
    }
    return body.trimEnd().endsWith('data: [DONE]') ? undefined : `no end: ${body.slice(-200)}`;
  }
}

/** Returns the values of a metric of the service, by their labels. */
async function gauges(url: string, name: string): Promise<Record<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`));
  return Object.fromEntries(
    lines.map((line) => [
      /(?:state|operation|kind)="(\w+)"/.exec(line)?.[1] ?? '',
      Number(line.slice(line.lastIndexOf(' '))),
    ]),
  );
}

/** Returns pending operations and requests of the engine, after the last cancellations had time to take effect. */
async function leftovers(url: string): Promise<string[]> {
  for (let attempt = 0; ; attempt++) {
    const held = {
      ...(await gauges(url, 'meganest_operations_pending')),
      ...(await gauges(url, 'meganest_engine_requests')),
    };
    const left = Object.entries(held).filter(([, count]) => count !== 0);
    if (left.length === 0 || attempt === 50) return left.map(([what, count]) => `${what} ${count}`);
    await wait(200);
  }
}

export const subject: Subject = {
  async run({ requests }) {
    const nats = await startNats();
    const directory = await createTemporaryDirectory();
    const env = { NATS_URL: nats.url, MEGANEST_DATA_DIR: directory.path };
    const service = await startService('llm', env);
    const connection = await MessagingConnection.open({ url: nats.url, name: 'soak' });
    const rpc = new RpcClient(connection);
    try {
      const soak = new Soak(rpc, service.url);
      const readings: { done: number; residentBytes: number; loopDelayP99Ms: number }[] = [];
      const startedAt = performance.now();
      const tenth = Math.ceil(requests / 10);
      for (let from = 0; from < requests; from += tenth) {
        const numbers = Array.from(
          { length: Math.min(tenth, requests - from) },
          (_unused, index) => from + index,
        );
        await atOnce(numbers.toReversed(), concurrency, (index) => soak.run(index));
        const { residentBytes, loopDelayP99Ms } = await processMetrics(service.url);
        readings.push({ done: soak.done, residentBytes, loopDelayP99Ms });
        console.error(
          `${soak.done} requests, ${(residentBytes / megabyte).toFixed(0)} MiB, ${soak.surprises.length} surprises`,
        );
      }
      const seconds = (performance.now() - startedAt) / 1000;
      const left = await leftovers(service.url);
      const growth = readings.at(-1)!.residentBytes / readings[0]!.residentBytes;
      const worstDelay = Math.max(...readings.map(({ loopDelayP99Ms }) => loopDelayP99Ms));
      if (soak.surprises.length > 0 || left.length > 0 || growth > 1.1) process.exitCode = 1;
      for (const surprise of soak.surprises.slice(0, 20)) console.error(surprise);
      return [
        '## Soak',
        `${requests} requests to the llm service (nano-chat), ${concurrency} at a time, in ${seconds.toFixed(0)} s.`,
        table(
          ['', 'target', 'measured'],
          [
            ['unexpected outcomes', '0', soak.surprises.length],
            ['left in the engine at the end', 'nothing', left.length === 0 ? 'nothing' : left.join(', ')],
            ['memory at the end, in times of that after the first tenth', '≤ 1.1', growth.toFixed(3)],
            ['event loop delay p99 of the service, worst tenth, ms', '≤ 20', worstDelay.toFixed(1)],
          ],
        ),
        table(
          ['requests', 'MiB resident', 'event loop delay p99, ms'],
          readings.map(({ done, residentBytes, loopDelayP99Ms }) => [
            done,
            (residentBytes / megabyte).toFixed(0),
            loopDelayP99Ms.toFixed(1),
          ]),
        ),
      ].join('\n\n');
    } finally {
      rpc.close();
      await connection.close();
      await service.stop();
      await nats.stop();
      await directory.remove();
    }
  },
};
