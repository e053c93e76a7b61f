import { MegaNestError } from '#platform/contracts';

/** A task that waits for its permits. */
interface Waiting {
  permits: number;
  enter: () => void;
}

/**
 * Runs tasks as long as it has permits for them. Tasks begin in the order of their arrival: a task that waits for many
 * permits also holds up later tasks that need few.
 */
export class Semaphore {
  readonly #waiting: Waiting[] = [];
  #free: number;

  constructor(private readonly permits: number) {
    this.#free = permits;
  }

  /** Runs `work` when a permit is free. Errors: cancelled while it waits, and the errors of `work`. */
  run<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    return this.#run(1, work, signal);
  }

  /** Runs `work` while no other task runs. Errors: cancelled while it waits, and the errors of `work`. */
  runAlone<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    return this.#run(this.permits, work, signal);
  }

  async #run<Result>(permits: number, work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    await this.#acquire(permits, signal);
    try {
      return await work();
    } finally {
      this.#free += permits;
      this.#admit();
    }
  }

  async #acquire(permits: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new MegaNestError('cancelled');
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const waiting = { permits, enter };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(new MegaNestError('cancelled'));
        this.#admit();
      };
      this.#waiting.push(waiting);
      signal.addEventListener('abort', leave, { once: true });
      this.#admit();
    });
  }

  /** Lets the tasks enter whose permits are free, until one has to wait. */
  #admit(): void {
    for (let first = this.#waiting[0]; first && first.permits <= this.#free; first = this.#waiting[0]) {
      this.#waiting.shift();
      this.#free -= first.permits;
      first.enter();
    }
  }
}
