import { setTimeout as wait } from 'node:timers/promises';
import { portVariable, startService, type ServiceName, type TestService } from '#platform/testing';

/**
 * Kills one instance of a service at a time, in turns, and starts another one at the same address; can freeze an
 * instance for a while.
 */
export class Saboteur {
  readonly #instances = new Map<ServiceName, TestService[]>();
  #killed = 0;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();

  private constructor(private readonly env: NodeJS.ProcessEnv) {}

  /** Starts a second instance of each service, in addition to the instance in `first`. */
  static async start(
    env: NodeJS.ProcessEnv,
    first: ReadonlyMap<ServiceName, TestService>,
  ): Promise<Saboteur> {
    const saboteur = new Saboteur(env);
    for (const [name, service] of first) {
      saboteur.#instances.set(name, [service, await startService(name, env)]);
    }
    return saboteur;
  }

  /** Instances killed so far. */
  get killed(): number {
    return this.#killed;
  }

  /** The addresses of a service's instances; a replacement has the address of the instance before it. */
  urlsOf(name: ServiceName): string[] {
    return (this.#instances.get(name) ?? []).map(({ url }) => url);
  }

  killEvery(seconds: number): void {
    const names = [...this.#instances.keys()];
    this.#timer = setInterval(() => {
      const name = names[this.#killed++ % names.length]!;
      this.#queue(() => this.#replaceOldest(name));
    }, seconds * 1000);
  }

  /** Freezes the newest instance of a service for a while, like a machine that swaps or a broken network. */
  suspend(name: ServiceName, seconds: number): void {
    this.#queue(async () => {
      const instance = this.#instances.get(name)!.at(-1)!;
      instance.process.signal('SIGSTOP');
      await wait(seconds * 1000);
      instance.process.signal('SIGCONT');
    });
  }

  /** Stops killing, and waits until each killed instance has a successor. */
  async rest(): Promise<void> {
    clearInterval(this.#timer);
    await this.#working;
  }

  /** Stops killing, and stops the instances that were started. */
  async stop(): Promise<void> {
    await this.rest();
    await Promise.all([...this.#instances.values()].flat().map((service) => service.stop()));
  }

  #queue(work: () => Promise<void>): void {
    this.#working = this.#working.then(work);
    // The next step, or `stop`, throws the error.
    this.#working.catch(() => undefined);
  }

  async #replaceOldest(name: ServiceName): Promise<void> {
    const instances = this.#instances.get(name)!;
    const victim = instances.shift()!;
    await victim.kill();
    const port = new URL(victim.url).port;
    instances.push(await startService(name, { ...this.env, [portVariable(name)]: port }));
  }
}
