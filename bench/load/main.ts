/**
 * Sends concurrent chats to all of MegaNest on this machine:
 * `npm run bench:load -- [--connections 64] [--seconds 30] [--kill-every 10] [--arrivals N]`. First a closed loop, then
 * open-loop arrivals, N per second or 70% of the measured rate; then both again, twice as long, while instances of the
 * services are killed. Exits with 1 if a chat was lost before it began to stream, or if an operation is still pending
 * at the end.
 *
 * To compare two states of the code: `-- --serve` in a checkout of each starts all of MegaNest and prints its address;
 * then `-- --compare <address>,<address> [--rounds 6] [--seconds 10]`. The addresses take turns.
 */
import { once } from 'node:events';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { startStack, type ServiceName, type TestService, type TestStack } from '#platform/testing';
import { processMetrics } from '../services/process-metrics.js';
import { compareGateways } from './compare.js';
import { drive, type LoadResult } from './drive.js';
import { settledPendingOperations } from '../services/process-metrics.js';
import { ingestSample, questions } from './sample.js';
import { Saboteur } from './saboteur.js';

const { values: flags } = parseArgs({
  options: {
    connections: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '30' },
    'kill-every': { type: 'string', default: '10' },
    arrivals: { type: 'string' },
    serve: { type: 'boolean', default: false },
    compare: { type: 'string' },
    rounds: { type: 'string', default: '6' },
  },
});
const connections = Number(flags.connections);
const seconds = Number(flags.seconds);
const workers = ['embedding', 'retrieval', 'reranking', 'llm'] as const satisfies readonly ServiceName[];

function row(
  name: string,
  { throughput, p50, p99, slowest, outcomes, withoutReranking, ...failed }: LoadResult,
): string {
  const { answered, broken, lost } = outcomes;
  const cells = [name, throughput.toFixed(1), p50, p99, slowest, answered, withoutReranking, broken, lost];
  return `| ${[...cells, failed.refused, failed.errors, failed.timeouts].join(' | ')} |`;
}

function lost({ outcomes, refused, errors, timeouts }: LoadResult): number {
  return outcomes.lost + refused + errors + timeouts;
}

/** Delays of the event loop of each service since the last call. */
async function loopDelays(stack: TestStack): Promise<string> {
  const delays: string[] = [];
  for (const name of ['gateway', ...workers] as const) {
    const { loopDelayP99Ms } = await processMetrics(stack.service(name).url);
    delays.push(`${name} ${loopDelayP99Ms.toFixed(1)}`);
  }
  return delays.join(', ');
}

const patience = { REQUEST_TIMEOUT_MS: '60000', RATE_LIMIT_PER_MINUTE: '0' };
/** Runs all of MegaNest until Ctrl-C. */
async function serve(): Promise<void> {
  const stack = await startStack({ env: patience });
  console.log(stack.service('gateway').url);
  await Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)));
  await stack.stop();
}

async function measure(): Promise<void> {
  const stack = await startStack({ env: patience });
  let saboteur: Saboteur | undefined;
  try {
    const { url } = stack.service('gateway');
    await ingestSample(url);
    const common = { url, connections, questions };
    await drive({ ...common, connections: 4, extent: { seconds: 3 } });
    await loopDelays(stack);
    const closed = await drive({ ...common, extent: { seconds } });
    const closedDelays = await loopDelays(stack);
    const arrivalsPerSecond = Number(flags.arrivals ?? Math.max(1, Math.floor(closed.throughput * 0.7)));
    const open = await drive({
      ...common,
      extent: { chats: arrivalsPerSecond * seconds },
      arrivalsPerSecond,
    });
    const openDelays = await loopDelays(stack);
    const instances = new Map<ServiceName, TestService>(workers.map((name) => [name, stack.service(name)]));
    saboteur = await Saboteur.start(stack.env, instances);
    saboteur.killEvery(Number(flags['kill-every']));
    // Every chat runs to its end, so that a chat that hangs counts as a timeout.
    const extent = { chats: arrivalsPerSecond * seconds * 2 };
    const sabotaged = await drive({ ...common, extent, arrivalsPerSecond });
    const killedInOpen = saboteur.killed;
    const crowded = await drive({ ...common, extent });
    const killed = [killedInOpen, saboteur.killed - killedInOpen];
    const pending = await settledPendingOperations([url]);

    console.log(
      `${connections} chats at once, ${seconds} s each; ${cpus().length} × ${cpus()[0]?.model}, load ${loadavg()[0]?.toFixed(1)}\n`,
    );
    console.log(
      '| | chats/s | p50 ms | p99 ms | slowest ms | answered | without reranking | broken in mid-stream | lost | refused | connection errors | timeouts |',
    );
    console.log(`|${'---|'.repeat(12)}`);
    console.log(row('as many as it takes', closed));
    console.log(row(`open loop, ${arrivalsPerSecond}/s`, open));
    console.log(row(`the same, ${killed[0]} instances killed`, sabotaged));
    console.log(row(`as many as it takes, ${killed[1]} instances killed`, crowded));
    console.log('\nEvent loops, p99 of their delays in ms, 10 at rest:');
    console.log(`as many as it takes: ${closedDelays}\nopen loop: ${openDelays}`);
    console.log(`\nOperations still pending on the gateway at the end: ${pending}`);
    const losses = [closed, open, sabotaged, crowded].map(lost).reduce((sum, count) => sum + count, 0);
    if (losses + pending > 0) process.exitCode = 1;
  } finally {
    await saboteur?.stop();
    await stack.stop().catch((error: unknown) => console.error(error));
  }
}

const rounds = Number(flags.rounds);
if (flags.serve) await serve();
else if (flags.compare)
  console.log(await compareGateways(flags.compare.split(','), { connections, seconds, rounds }));
else await measure();
