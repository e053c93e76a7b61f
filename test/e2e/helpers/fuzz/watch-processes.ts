import { allServices, type ServiceName, type TestStack } from '#platform/testing';

/** What a process says of itself. */
export interface ProcessFigures {
  /** Longest time in seconds that its event loop was held since it was last asked. */
  longestHold: number;
  residentBytes: number;
  heapBytes: number;
}

/**
 * Options of Node with which all threads of a process collect their garbage at SIGUSR2. Without it one program of WebAssembly that
 * a thread has not collected yet (22 MiB in tts) is there at one look and gone at the next.
 */
export const collectable = `--import=data:text/javascript,${encodeURIComponent(`
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const channel = new BroadcastChannel('collect-garbage');
channel.onmessage = () => collect();
channel.unref();
if (isMainThread)
  process.on('SIGUSR2', () => {
    collect();
    channel.postMessage('');
  });
`)}`;

const everyMs = 2_000;
const settleMs = 30_000;

/** Figures from the text of `/metrics`. */
export function figuresOf(metrics: string): ProcessFigures {
  const value = (name: string) =>
    Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(metrics)?.[1]);
  return {
    longestHold: value('nodejs_eventloop_lag_max_seconds'),
    residentBytes: value('process_resident_memory_bytes'),
    heapBytes: value('nodejs_heap_size_used_bytes'),
  };
}

/** Asks all services of a stack for their figures again and again: the metric of the event loop begins anew at each question. */
export class ProcessWatch {
  readonly longestHolds = new Map<ServiceName, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly stack: TestStack) {
    this.#timer = setInterval(() => void this.ask().catch(() => undefined), everyMs);
  }

  /** Takes part of what was read by another one. */
  note(service: ServiceName, { longestHold }: ProcessFigures): void {
    this.longestHolds.set(service, Math.max(this.longestHolds.get(service) ?? 0, longestHold));
  }

  async ask(): Promise<Map<ServiceName, ProcessFigures>> {
    const all = await Promise.all(
      allServices.map(async (service) => {
        const answer = await fetch(`${this.stack.service(service).url}/metrics`);
        const figures = figuresOf(await answer.text());
        this.note(service, figures);
        return [service, figures] as const;
      }),
    );
    return new Map(all);
  }

  /** Memory once nothing is asked any more: the least of what is seen while garbage is collected (see {@link collectable}). */
  async settledMemory(waitMs = settleMs): Promise<Map<ServiceName, number>> {
    const least = new Map<ServiceName, number>();
    for (const until = Date.now() + waitMs; Date.now() < until;) {
      for (const service of allServices) this.stack.service(service).process.signal('SIGUSR2');
      for (const [service, { residentBytes }] of await this.ask())
        least.set(service, Math.min(least.get(service) ?? Infinity, residentBytes));
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    return least;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
