import { startService, type ServiceName, type TestService } from '#testing';

/** Kills one instance of a service at a time, in turns, and starts another in its place. */
export class Saboteur {
  readonly #instances = new Map<ServiceName, TestService[]>();
  #killed = 0;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();

  private constructor(private readonly env: NodeJS.ProcessEnv) {}

  /** Starts a second instance of each service, in addition to the one that `first` names. */
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

  killEvery(seconds: number): void {
    const names = [...this.#instances.keys()];
    this.#timer = setInterval(() => {
      const name = names[this.#killed++ % names.length]!;
      this.#working = this.#working.then(() => this.#replaceOldest(name));
    }, seconds * 1000);
  }

  /** Stops killing, and stops the instances that were started. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#working;
    await Promise.all([...this.#instances.values()].flat().map((service) => service.stop()));
  }

  async #replaceOldest(name: ServiceName): Promise<void> {
    const instances = this.#instances.get(name)!;
    await instances.shift()?.kill();
    instances.push(await startService(name, this.env));
  }
}
