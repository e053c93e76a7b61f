import {
  createTemporaryDirectory,
  startNats,
  startPostgres,
  startService,
  type TestNats,
  type TestPostgres,
  type TestService,
} from '#platform/testing';
import { startScriptedServices, type ScriptedServices, type Witness } from './scripted-services.js';

/** A real gateway on real NATS and Postgres, before scripted services. */
export interface ScriptedStack {
  nats: TestNats;
  postgres: TestPostgres;
  witness: Witness;
  /** The gateway that was started last. */
  gateway: TestService;
  /** Starts one more gateway on the same state. */
  startGateway(env?: NodeJS.ProcessEnv): Promise<TestService>;
  stop(): Promise<void>;
}

/** `database`: one that the test itself starts and stops, instead of one of the stack's own. */
export async function startScriptedStack(
  env: NodeJS.ProcessEnv = {},
  database?: TestPostgres,
): Promise<ScriptedStack> {
  const [nats, postgres, directory] = await Promise.all([
    startNats(),
    database ?? startPostgres(),
    createTemporaryDirectory(),
  ]);
  const services: ScriptedServices = await startScriptedServices(nats.url);
  const gateways: TestService[] = [];
  const startGateway = async (more: NodeJS.ProcessEnv = {}) => {
    const gateway = await startService('gateway', {
      NATS_URL: nats.url,
      DATABASE_URL: postgres.connectionString,
      MEGANEST_DATA_DIR: directory.path,
      ...env,
      ...more,
    });
    gateways.push(gateway);
    return gateway;
  };
  const gateway = await startGateway();
  return {
    nats,
    postgres,
    witness: services.witness,
    gateway,
    startGateway,
    stop: async () => {
      await Promise.allSettled(gateways.map((started) => started.stop()));
      await services.close();
      await Promise.all([nats.stop(), postgres.stop()]);
      await directory.remove();
    },
  };
}
