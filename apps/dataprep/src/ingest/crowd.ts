import { MegaNestError } from '#contracts';

interface Waiting {
  isAlone: boolean;
  enter: () => void;
}

/** Runs tasks side by side, except tasks that run alone. Tasks begin in the order of their arrival. */
export class Crowd {
  readonly #waiting: Waiting[] = [];
  #running = 0;
  #isTaken = false;

  /** Errors: cancelled while it waits, and the errors of `work`. */
  together<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    return this.#run(false, work, signal);
  }

  /** Runs `work` while no other task runs. Errors: cancelled while it waits, and the errors of `work`. */
  alone<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    return this.#run(true, work, signal);
  }

  async #run<Result>(isAlone: boolean, work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    await this.#enter(isAlone, signal);
    try {
      return await work();
    } finally {
      this.#running -= 1;
      if (isAlone) this.#isTaken = false;
      this.#admit();
    }
  }

  async #enter(isAlone: boolean, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new MegaNestError('cancelled');
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(new MegaNestError('cancelled'));
        this.#admit();
      };
      const enter = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const waiting = { isAlone, enter };
      this.#waiting.push(waiting);
      signal.addEventListener('abort', leave, { once: true });
      this.#admit();
    });
  }

  #admit(): void {
    for (let first = this.#waiting[0]; first; first = this.#waiting[0]) {
      if (this.#isTaken || (first.isAlone && this.#running > 0)) return;
      this.#waiting.shift();
      this.#running += 1;
      this.#isTaken = first.isAlone;
      first.enter();
    }
  }
}
