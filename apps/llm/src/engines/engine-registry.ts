import {
  MegaNestError,
  storedEngines,
  type EngineSpec,
  type EngineStatus,
  type findEngine,
  type localEngines,
  type NamedEngine,
  type ReplyOf,
} from '#platform/contracts';
import {
  EnginePool,
  findLocalEngines,
  findModels,
  type PoolEntry,
  type PooledGenerator,
} from '#engine/remote-engines';
import { RpcClient } from '#platform/messaging';
import { projectRoot } from '#platform/foundation';
import { dispatcherForEngines, Metrics, refusalOfEngineUrl } from '#platform/service-kit';
import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import { resolve } from 'node:path';
import type { Dispatcher } from 'undici';
import type { LlmEnvironment } from '../llm.environment.js';
import type { LlmGenerator } from '../open-generator.js';
import { readEngineFiles, watchEngineFiles, type FiledEngines } from './engine-files.js';

/** Id of the engine of LLM_ENDPOINT. */
const environmentEngine = 'LLM_ENDPOINT';
/** Timeout of the gateway that is asked for the stored engines. */
const answerMs = 2_000;
/** Interval of further questions, for changes that this instance has not heard of. */
const askAgainMs = 60_000;

/** The engines of this instance: of LLM_ENDPOINT, of the files, and those that the API has added. */
export class EngineRegistry implements OnApplicationShutdown {
  readonly #pool: EnginePool;
  readonly #logger = new Logger('engines');
  readonly #directory: string;
  readonly #dispatcher: Dispatcher;
  #filed: FiledEngines = { engines: [], models: new Map(), problems: [] };
  #stored: readonly NamedEngine[] = [];
  #environment: PoolEntry | undefined;
  #watcher: { close(): void } | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Changes are applied one after the other. */
  #changes: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly environment: LlmEnvironment,
    private readonly client: RpcClient,
    metrics: Metrics,
  ) {
    this.#pool = new EnginePool({ policy: environment.ENGINE_POLICY });
    this.#directory = resolve(projectRoot, environment.ENGINES_DIR);
    this.#dispatcher = dispatcherForEngines(environment.ENGINES_ALLOW_PRIVATE);
    watchEngines(metrics, () => this.status());
  }

  /** Reads the files now and after each change, and the stored engines now and from time to time. */
  async start(): Promise<void> {
    this.#watcher = watchEngineFiles(this.#directory, () => void this.#reread());
    this.#filed = await this.#readFiles();
    await this.#apply();
    // The gateway may start later; it then asks this service to read again.
    void this.reload().catch(() => undefined);
    this.#timer = setInterval(() => void this.reload().catch(() => undefined), askAgainMs).unref();
  }

  /** The model of LLM_ENDPOINT as a model of the pool, so that other engines may serve it, too. */
  async adopt(
    generator: LlmGenerator,
    endpoint: string,
    apiKey: string | undefined,
  ): Promise<PooledGenerator> {
    const { id: model } = generator.info;
    const spec = specOf({ url: endpoint, api_key: apiKey, models: [model] });
    const opened = { model, generator: generator as PooledGenerator };
    this.#environment = { spec: { ...spec, id: environmentEngine }, source: 'environment', opened };
    await this.#apply();
    const pooled = this.#pool.generator(model);
    await pooled.prepare();
    return pooled;
  }

  /** Reads the stored engines from the gateway. Errors: service_unavailable. */
  async reload(): Promise<void> {
    const { engines } = await this.client.request(storedEngines, {}, { deadline: Date.now() + answerMs });
    if (JSON.stringify(engines) === JSON.stringify(this.#stored)) return;
    this.#stored = engines;
    await this.#apply();
  }

  /** Asks an engine for its kind and its models. Errors: forbidden_url, unreachable_url. */
  async find(spec: EngineSpec): Promise<ReplyOf<typeof findEngine>> {
    const { url, kind, api_key } = spec;
    const refusal = refusalOfEngineUrl(url, this.environment.ENGINES_ALLOW_PRIVATE);
    if (refusal) throw new MegaNestError('forbidden_url', { url, detail: refusal, param: 'url' });
    try {
      const found = await findModels({ url, kind, api_key }, this.#dispatcher);
      const models = found.models.map(({ id, uses }) => ({
        id,
        uses: [...uses],
        served: uses.includes('chat'),
      }));
      return { kind: found.kind, models };
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      throw new MegaNestError('unreachable_url', { url, detail, param: 'url', cause: error });
    }
  }

  /** The engines at the usual ports of this machine; none with MEGANEST_ENGINE=off. */
  async local(): Promise<ReplyOf<typeof localEngines>['engines']> {
    if (this.environment.MEGANEST_ENGINE === 'off') return [];
    const known = new Set(this.status().map(({ url }) => Number(new URL(url).port)));
    return (await findLocalEngines()).map(({ url, kind, models }) => ({
      url,
      kind,
      models: models.map(({ id }) => id),
      added: known.has(Number(new URL(url).port)),
    }));
  }

  models(): string[] {
    return this.#pool.models();
  }

  isDisabled(model: string): boolean {
    return this.#pool.isDisabled(model);
  }

  fallbacks(model: string): readonly string[] {
    return this.#pool.fallbacks(model);
  }

  /** False for a model that only other models answer for. */
  hasEngine(model: string): boolean {
    return this.#pool.enginesOf(model).length > 0;
  }

  generator(model: string): PooledGenerator {
    return this.#pool.generator(model);
  }

  status(): EngineStatus[] {
    return this.#pool.status();
  }

  get problems(): readonly string[] {
    return this.#filed.problems;
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.#timer);
    this.#watcher?.close();
    this.#pool.close();
    await this.#dispatcher.close();
  }

  async #reread(): Promise<void> {
    this.#filed = await this.#readFiles();
    await this.#apply();
  }

  async #readFiles(): Promise<FiledEngines> {
    const filed = await readEngineFiles(this.#directory, process.env);
    for (const problem of filed.problems) this.#logger.error(`an engine file is not used: ${problem}`);
    return filed;
  }

  /** Applies all engines. Of several ones with an id, that of the environment, then of the files, has precedence. */
  #apply(): Promise<unknown> {
    this.#changes = this.#changes.then(() => {
      const stored = this.#stored.map((spec): PoolEntry => ({
        spec,
        source: 'api',
        dispatcher: this.#dispatcher,
      }));
      const all = [...(this.#environment ? [this.#environment] : []), ...this.#filed.engines, ...stored];
      const engines = all.filter(
        ({ spec }, index) => all.findIndex((other) => other.spec.id === spec.id) === index,
      );
      return this.#pool.apply({ engines, models: this.#filed.models });
    });
    return this.#changes;
  }
}

function specOf({ url, api_key, models }: Pick<NamedEngine, 'url' | 'api_key' | 'models'>): EngineSpec {
  return {
    url,
    ...(api_key !== undefined && { api_key }),
    ...(models && { models }),
    weight: 1,
    labels: {},
    first_token_timeout_ms: 60_000,
    disabled: false,
  };
}

/** Shows the state and the calls of each engine. */
function watchEngines(metrics: Pick<Metrics, 'watchRows'>, read: () => EngineStatus[]): void {
  const each = (values: (engine: EngineStatus) => Record<string, number>, label: string) => () =>
    read().flatMap((engine) =>
      Object.entries(values(engine)).map(([name, value]) => ({
        labels: { engine: engine.id, [label]: name },
        value,
      })),
    );
  metrics.watchRows(
    {
      name: 'meganest_engine_state',
      help: 'State of the circuit breaker of each engine; 1 for the present state',
      labels: ['engine', 'state'],
    },
    each(({ state }) => ({ closed: 0, open: 0, 'half-open': 0, [state]: 1 }), 'state'),
  );
  metrics.watchRows(
    {
      name: 'meganest_engine_calls',
      help: 'Calls of each engine since the start: all, failed, running now; and how often its circuit breaker opened',
      labels: ['engine', 'kind'],
    },
    each(
      ({ requests, failures, in_flight, openings }) => ({
        all: requests,
        failed: failures,
        running: in_flight,
        openings,
      }),
      'kind',
    ),
  );
}
