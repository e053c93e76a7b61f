import {
  createTemporaryDirectory,
  startNats,
  startPostgres,
  startService,
  type TestService,
} from '#platform/testing';
import { startScriptedServices, type Witness } from './scripted-services.js';
import { startScriptedEngine, type ScriptedEngine } from './scripted-engine.js';

/** A real gateway and a real LLM service in front of a scripted engine, on real NATS and Postgres; the other services are scripted. */
export interface EngineStack {
  engine: ScriptedEngine;
  /** What the scripted services were asked. */
  witness: Witness;
  gateway: TestService;
  llm: TestService;
  /** Starts one more gateway before the same services. */
  startGateway(env: NodeJS.ProcessEnv): Promise<TestService>;
  /** Starts one more LLM service, before another engine; it is stopped with the stack. */
  startLlm(engine: Pick<ScriptedEngine, 'url'>): Promise<TestService>;
  /** POSTs JSON to the gateway. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  stop(): Promise<void>;
}

/** Settings of the two services, and what the engine says of its model. */
export interface EngineStackOptions {
  env?: NodeJS.ProcessEnv;
  model?: Record<string, unknown>;
  /** Called before the services start, so that they find its routes. */
  prepare?: (engine: ScriptedEngine) => void;
}

export async function startEngineStack({
  env,
  model,
  prepare,
}: EngineStackOptions = {}): Promise<EngineStack> {
  const [nats, postgres, directory, engine] = await Promise.all([
    startNats(),
    startPostgres(),
    createTemporaryDirectory(),
    startScriptedEngine(model),
  ]);
  prepare?.(engine);
  // The engine is asked for answers alone, unless a spec is about search queries.
  const queries = { LLM_SEARCH_QUERIES_TIMEOUT_MS: '0' };
  const common = { NATS_URL: nats.url, MEGANEST_DATA_DIR: directory.path, ...queries, ...env };
  const others = await startScriptedServices(nats.url, false);
  const models: TestService[] = [];
  const startLlm = async ({ url }: Pick<ScriptedEngine, 'url'>) => {
    const started = await startService('llm', { LLM_ENDPOINT: url, ...common });
    models.push(started);
    return started;
  };
  const llm = await startLlm(engine);
  const gateways: TestService[] = [];
  const startGateway = async (more: NodeJS.ProcessEnv) => {
    const started = await startService('gateway', {
      DATABASE_URL: postgres.connectionString,
      ...common,
      ...more,
    });
    gateways.push(started);
    return started;
  };
  const gateway = await startGateway({});
  return {
    engine,
    witness: others.witness,
    gateway,
    llm,
    startGateway,
    startLlm,
    post: (path, body, headers = {}) =>
      fetch(gateway.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    stop: async () => {
      await Promise.allSettled([...gateways, ...models].map((service) => service.stop()));
      engine.close();
      await others.close();
      await Promise.all([nats.stop(), postgres.stop()]);
      await directory.remove();
    },
  };
}
