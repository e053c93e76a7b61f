import { MegaNestError } from '#platform/contracts';
import { currentClient } from './client-context.js';
import { ClientShares } from './client-shares.js';
import { noteWork } from './client-work.js';

/** Limits of {@link FairTurns}. */
export interface TurnLimits {
  /** The service and the work in refusals: "The dataprep service has 64 documents of this client waiting". */
  readonly service: string;
  readonly what: string;
  /** Concurrent tasks of all clients, and of one client. One client never takes all of them. */
  readonly slots: number;
  readonly slotsOfOne: number;
  /** Waiting tasks of one client; further ones are refused. */
  readonly waitingOfOne: number;
}

interface Waiting {
  readonly enter: () => void;
}

/**
 * Runs the tasks of many clients, a few at a time. The client whose tasks have taken the least time is next; tasks of one
 * client begin in their order.
 */
export class FairTurns {
  readonly #shares = new ClientShares();
  readonly #waiting = new Map<string, Waiting[]>();
  readonly #running = new Map<string, number>();
  #free: number;

  constructor(private readonly limits: TurnLimits) {
    this.#free = limits.slots;
  }

  /** Number of waiting tasks. */
  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, tasks) => sum + tasks.length, 0);
  }

  /** True if a task has to wait. */
  get isFull(): boolean {
    return this.#free === 0;
  }

  /**
   * Runs `work` when it is its client's turn. Errors: overloaded for a client with too many waiting tasks; cancelled while
   * it waits; the errors of `work`.
   */
  async run<Result>(
    work: () => Promise<Result>,
    { signal, client = currentClient() }: { signal?: AbortSignal; client?: string } = {},
  ): Promise<Result> {
    await this.#enter(client, signal);
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      const milliseconds = performance.now() - startedAt;
      this.#shares.charge(client, milliseconds);
      noteWork('seconds', client, milliseconds / 1_000);
      this.#count(client, -1);
      this.#admit();
    }
  }

  async #enter(client: string, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw new MegaNestError('cancelled');
    const own = this.#waiting.get(client) ?? [];
    if (own.length >= this.limits.waitingOfOne) throw this.#tooMany(own.length);
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        this.#forget(client, task);
        reject(new MegaNestError('cancelled'));
      };
      const task = {
        enter: () => {
          signal?.removeEventListener('abort', leave);
          resolve();
        },
      };
      own.push(task);
      this.#waiting.set(client, own);
      signal?.addEventListener('abort', leave, { once: true });
      this.#admit();
    });
  }

  #admit(): void {
    while (this.#free > 0) {
      const client = this.#shares.next(this.#admissible());
      const own = client === undefined ? undefined : this.#waiting.get(client);
      const task = own?.[0];
      if (client === undefined || !task) return;
      this.#forget(client, task);
      this.#count(client, 1);
      task.enter();
    }
  }

  *#admissible(): Generator<string, void, void> {
    for (const client of this.#waiting.keys())
      if ((this.#running.get(client) ?? 0) < this.limits.slotsOfOne) yield client;
  }

  #count(client: string, more: 1 | -1): void {
    this.#free -= more;
    const running = (this.#running.get(client) ?? 0) + more;
    if (running === 0) this.#running.delete(client);
    else this.#running.set(client, running);
  }

  #forget(client: string, task: Waiting): void {
    const left = (this.#waiting.get(client) ?? []).filter((one) => one !== task);
    if (left.length === 0) this.#waiting.delete(client);
    else this.#waiting.set(client, left);
  }

  #tooMany(waiting: number): MegaNestError {
    const { service, what, waitingOfOne } = this.limits;
    const detail = `${waiting} ${what} of this client waiting, and the limit is ${waitingOfOne}`;
    return new MegaNestError('overloaded', { service, detail, retryAfter: 5 });
  }
}
