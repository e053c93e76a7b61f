/**
 * Measures the overhead of the gateway and NATS: a chat of one token on an idle stack, and eight concurrent streams.
 * For comparison the engine runs in this process, with the same model and settings; they take turns.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { generate, type GenerationParameters } from '#platform/contracts';
import { MessagingConnection, RpcClient } from '#platform/messaging';
import { startService, startStack, type TestService, type TestStack } from '#platform/testing';
import { loadGenerator, type Generator } from '#engine/generation';
import { benchFolder, digits, randomDecoder } from '../inference/models.js';
import { table, targetHead } from '../harness/markdown.js';
import { quantile } from '../harness/interleave.js';
import type { Subject } from '../harness/subject.js';
import { startBareRelay } from './bare-relay.js';
import { ChatClient } from './chat-client.js';
import { processMetrics, type ProcessMetrics } from './process-metrics.js';

const chats = 300;
const streams = 8;
const streamTokens = 160;
const content = 'How many days of vacation are there?';

/** Ways to call the same model, from the shortest to the longest. */
interface Way {
  readonly name: string;
  readonly run: (parameters: GenerationParameters, text: string) => Promise<unknown>;
}

const bareName = 'HTTP and NATS alone, no engine';
const names = ['the engine', 'the llm service over NATS', 'the gateway', bareName];

async function consume(events: AsyncGenerator): Promise<void> {
  while (!(await events.next()).done);
}

function ways(generator: Generator, rpc: RpcClient, gateway: ChatClient): Way[] {
  const messages = (text: string) => [{ role: 'user' as const, content: text }];
  return [
    {
      name: names[0]!,
      run: (parameters, text) => consume(generator.generate({ messages: messages(text), parameters })),
    },
    {
      name: names[1]!,
      run: (parameters, text) => consume(rpc.stream(generate, { messages: messages(text), ...parameters })),
    },
    { name: names[2]!, run: (parameters, text) => gateway.chat(text, { ...parameters, stream: true }) },
  ];
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Measures one-token chats; the ways take turns, with pauses between them. */
async function measureIdle(candidates: readonly Way[]): Promise<number[][]> {
  const times = candidates.map((): number[] => []);
  const parameters = { max_tokens: 1, temperature: 0, num_assistant_tokens: 0 };
  for (let round = 0; round < chats + 50; round++) {
    for (const [index, { run }] of candidates.entries()) {
      await wait(2);
      const time = await milliseconds(() => run(parameters, content));
      if (round >= 50) times[index]!.push(time);
    }
  }
  return times;
}

/** Measures the tokens per second of eight concurrent streams; the ways take turns. */
async function measureStreams(candidates: readonly Way[], rounds: number): Promise<number[][]> {
  const speeds = candidates.map((): number[] => []);
  const parameters = { max_tokens: streamTokens, ignore_eos: true, temperature: 0, num_assistant_tokens: 0 };
  for (let round = 0; round <= rounds; round++) {
    for (const [index, { run }] of candidates.entries()) {
      const all = () =>
        Promise.all(Array.from({ length: streams }, (_unused, seed) => run(parameters, digits(8, seed))));
      const time = await milliseconds(all);
      if (round > 0) speeds[index]!.push((streams * streamTokens * 1000) / time);
    }
  }
  return speeds;
}

interface Measured {
  readonly values: number[][];
  readonly delays: [string, ProcessMetrics][];
  /** Processor time of the gateway over all its chats, in milliseconds. */
  readonly gatewayCpuMs: number;
}

async function measureModel(
  stack: TestStack,
  llm: TestService,
  source: string,
  measure: (candidates: readonly Way[]) => Promise<number[][]>,
  bare?: ChatClient,
): Promise<Measured> {
  // As many threads as the machine has cores, as in the service.
  const generator = await loadGenerator(source, { cacheDirectory: benchFolder, engine: 'compiled' });
  const connection = await MessagingConnection.open({ url: stack.nats.url, name: 'bench' });
  const rpc = new RpcClient(connection);
  const gateway = stack.service('gateway');
  const client = new ChatClient(gateway.url, generator.info.id);
  const processes: [string, TestService][] = [
    ['gateway', gateway],
    ['llm', llm],
  ];
  for (const [, { url }] of processes) await processMetrics(url);
  const before = await processMetrics(gateway.url);
  const relayed: Way[] = bare
    ? [{ name: bareName, run: (parameters, text) => bare.chat(text, { ...parameters, stream: true }) }]
    : [];
  const values = await measure([...ways(generator, rpc, client), ...relayed]);
  const delays: [string, ProcessMetrics][] = [];
  for (const [name, { url }] of processes) delays.push([name, await processMetrics(url)]);
  const gatewayCpuMs = (delays[0]![1].cpuSeconds - before.cpuSeconds) * 1000;
  await client.close();
  rpc.close();
  await connection.close();
  await generator.close();
  return { values, delays, gatewayCpuMs };
}

function delayRows(title: string, { delays }: Measured): string[][] {
  return delays.map(([name, { loopDelayP99Ms, loopDelayMaxMs }]) => [
    title,
    name,
    loopDelayP99Ms.toFixed(1),
    loopDelayMaxMs.toFixed(1),
  ]);
}

function idleTable({ values }: Measured): string {
  const own = quantile(values[0]!, 0.5);
  const rows = values.map((times, index) => {
    const at = (share: number) => quantile(times, share).toFixed(2);
    const beyond = quantile(times, 0.5) - (names[index] === bareName ? 0 : own);
    return [names[index]!, at(0.05), at(0.5), at(0.95), beyond.toFixed(2)];
  });
  return table(['ms, one token', 'p5', 'p50', 'p95', 'p50 beyond the engine'], rows);
}

function streamTable({ values }: Measured): string {
  const own = quantile(values[0]!, 0.5);
  const rows = values.map((speeds, index) => {
    const median = quantile(speeds, 0.5);
    return [names[index]!, median.toFixed(0), (median / own).toFixed(3)];
  });
  return table([`${streams} streams of ${streamTokens} tokens`, 'tokens/s', 'share of the engine'], rows);
}

export const subject: Subject = {
  async run(options) {
    const folder = await randomDecoder();
    const env = { RATE_LIMIT_PER_MINUTE: '0', REQUEST_TIMEOUT_MS: '600000' };
    const stack = await startStack({ env });
    const started: TestService[] = [];
    try {
      const relay = await startBareRelay(stack.nats.url);
      const bare = new ChatClient(relay.url, 'bare');
      const idle = await measureModel(stack, stack.service('llm'), 'nano-chat', measureIdle, bare);
      await bare.close();
      relay.stop();
      await stack.service('llm').stop();
      const llm = await startService('llm', { ...stack.env, LLM_MODEL_ID: folder });
      started.push(llm);
      const busy = await measureModel(stack, llm, folder, (candidates) =>
        measureStreams(candidates, Math.max(3, options.rounds)),
      );
      const overhead = quantile(idle.values[2]!, 0.5) - quantile(idle.values[0]!, 0.5);
      const share = quantile(busy.values[2]!, 0.5) / quantile(busy.values[0]!, 0.5);
      const perChat = idle.gatewayCpuMs / (chats + 50);
      const perToken = busy.gatewayCpuMs / ((Math.max(3, options.rounds) + 1) * streams * streamTokens);
      return [
        '## Gateway',
        introduction,
        idleTable(idle),
        streamTable(busy),
        table(
          [...targetHead.slice(0, 2), 'measured'],
          [
            ['p50 of gateway and NATS beyond the engine, ms', '≤ 1', overhead.toFixed(2)],
            ['decoding through the gateway, share of the engine', '≥ 0.95', share.toFixed(3)],
          ],
        ),
        `The gateway takes ${perChat.toFixed(2)} ms of processor time for a chat of one token and ${(perToken * 1000).toFixed(0)} µs for each streamed token.`,
        table(
          ['', 'process', 'event loop delay p99, ms (target ≤ 20)', 'longest'],
          [...delayRows('one-token chats', idle), ...delayRows('eight streams', busy)],
        ),
      ].join('\n\n');
    } finally {
      await Promise.all(started.map((service) => service.stop()));
      await stack.stop().catch((error: unknown) => console.error(error));
    }
  },
};

const introduction = `${chats} chats of one token (nano-chat) one after the other, and ${streams} streams at once (135M shape, random weights), straight
from the engine, over NATS from the llm service, and as server-sent events from the gateway. What no gateway can go
below: a bare server of node:http that asks a bare responder over NATS, without engine, validation, log or metrics. The client shares the
machine with all of them. An event loop at rest shows 10 ms: the grain of its monitor.`;
