import { quantile } from '../harness/interleave.js';
import { machine, table } from '../harness/markdown.js';
import { drive } from './drive.js';
import { ingestSample, questions } from './sample.js';

/** Measures of the comparison; `lower` is better for times. */
interface Measurement {
  readonly chatsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly firstTokenP50: number;
  readonly withoutReranking: number;
  readonly unanswered: number;
}

/** Number of sequential chats in a round. */
const chatsAlone = 40;

/**
 * Compares running gateways in turns, whose order changes each round, so that a busy machine slows all of them
 * alike. First one chat at a time, then `connections` chats. Ratios are relative to the medians of the last gateway.
 */
export async function compareGateways(
  urls: readonly string[],
  { connections, seconds, rounds }: { connections: number; seconds: number; rounds: number },
): Promise<string> {
  for (const url of urls) {
    await ingestSample(url);
    await drive({ url, questions, connections: 4, extent: { seconds: 3 } });
  }
  const alone = urls.map((): Measurement[] => []);
  const crowded = urls.map((): Measurement[] => []);
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? [...urls.keys()] : [...urls.keys()].toReversed();
    for (const index of order) alone[index]!.push(await measureAlone(urls[index]!));
    for (const index of order) crowded[index]!.push(await measureCrowd(urls[index]!, connections, seconds));
  }
  return [
    `One chat at a time, ${rounds} rounds of ${chatsAlone}:\n`,
    resultTable(urls, alone, ['firstTokenP50', 'p50', 'p99']),
    `\n${connections} at once, ${rounds} rounds of ${seconds} s:\n`,
    resultTable(urls, crowded, ['chatsPerSecond', 'p50', 'p99']),
    `\n${machine()}`,
  ].join('\n');
}

function resultTable(
  urls: readonly string[],
  results: readonly (readonly Measurement[])[],
  keys: readonly (keyof Measurement)[],
): string {
  const of = (index: number, key: keyof Measurement) =>
    quantile(
      results[index]!.map((measurement) => measurement[key]),
      0.5,
    );
  const sum = (index: number, key: keyof Measurement) =>
    results[index]!.reduce((total, measurement) => total + measurement[key], 0);
  const last = urls.length - 1;
  const rows = urls.map((url, index) => [
    url,
    ...keys.flatMap((key) => [of(index, key).toFixed(1), (of(index, key) / of(last, key)).toFixed(2)]),
    sum(index, 'withoutReranking'),
    sum(index, 'unanswered'),
  ]);
  return table(
    ['gateway', ...keys.flatMap((key) => [key, 'ratio']), 'without reranking', 'unanswered'],
    rows,
  );
}

async function measureCrowd(url: string, connections: number, seconds: number): Promise<Measurement> {
  const result = await drive({ url, questions, connections, extent: { seconds } });
  const { throughput, p50, p99, withoutReranking, outcomes, refused, errors, timeouts } = result;
  const unanswered = outcomes.lost + outcomes.broken + refused + errors + timeouts;
  return { chatsPerSecond: throughput, p50, p99, firstTokenP50: 0, withoutReranking, unanswered };
}

async function measureAlone(url: string): Promise<Measurement> {
  const startedAt = performance.now();
  const chats: Awaited<ReturnType<typeof timeChat>>[] = [];
  for (let chat = 0; chat < chatsAlone; chat++)
    chats.push(await timeChat(url, questions[chat % questions.length]!));
  const whole = chats.map(({ wholeMs }) => wholeMs);
  return {
    chatsPerSecond: chatsAlone / ((performance.now() - startedAt) / 1000),
    p50: quantile(whole, 0.5),
    p99: quantile(whole, 0.99),
    firstTokenP50: quantile(
      chats.map(({ firstTokenMs }) => firstTokenMs),
      0.5,
    ),
    withoutReranking: chats.filter((chat) => chat.withoutReranking).length,
    unanswered: chats.filter(({ firstTokenMs }) => firstTokenMs === Infinity).length,
  };
}

async function timeChat(url: string, content: string) {
  const startedAt = performance.now();
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'chatqna', stream: true, messages: [{ role: 'user', content }] }),
  });
  let firstTokenMs = Infinity;
  let text = '';
  const decoder = new TextDecoder();
  for await (const bytes of answer.body ?? []) {
    text += decoder.decode(bytes as Uint8Array, { stream: true });
    if (firstTokenMs === Infinity && /"content":"[^"]/.test(text))
      firstTokenMs = performance.now() - startedAt;
  }
  return {
    firstTokenMs,
    wholeMs: performance.now() - startedAt,
    withoutReranking: /reranking;desc="skipped"/.test(answer.headers.get('server-timing') ?? ''),
  };
}
