import {
  nodeProgram,
  portVariable,
  programVariables,
  superviseProcess,
  waitForHttp,
  waitForListeningUrl,
  whenReadyOrStopped,
  type SupervisedProcess,
} from '#platform/local-stack';
import { startBalancer } from './balancer.js';
import { isCluster, natsVariables } from './start-nats.js';

/** A service of apps/ as a process of its own. */
export interface TestService {
  /** http://127.0.0.1:… */
  url: string;
  /** The address of each process behind `url`: one, or two on a cluster. */
  instances: readonly string[];
  process: Pick<SupervisedProcess, 'pid' | 'signal' | 'whenFinished'>;
  /** Its output so far, line by line. */
  output: readonly string[];
  /** Ends it as Ctrl-C would, waiting for its end. */
  stop(): Promise<void>;
  /** Ends it at once, as a crash would (SIGKILL), waiting for its end. */
  kill(): Promise<void>;
}

/** This process's environment without what would lead a service under test to the developer's own servers. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ', 'NODE_EXTRA_CA_CERTS'];
  return Object.fromEntries(kept.map((name) => [name, process.env[name]]));
}

/**
 * Starts `node dist/<app>.js` (needs a build) on a random port unless `env` names one, and waits until GET /ready
 * answers 200. On a cluster: two of them behind a balancer, unless `env` names the port (0 is a free one); what is done
 * to the one that is returned happens to both. Errors: StartFailedError with the service's last lines.
 */
export async function startService(app: string, env: NodeJS.ProcessEnv = {}): Promise<TestService> {
  if (!isCluster || env[portVariable(app)] !== undefined) return startInstance(app, env, []);
  const output: string[] = [];
  const [first, second] = await Promise.all([
    startInstance(app, env, output),
    startInstance(app, env, output),
  ]);
  const balancer = await startBalancer([first.url, second.url]);
  return {
    url: balancer.url,
    instances: [first.url, second.url],
    process: onBoth(first.process, second.process),
    output,
    stop: async () => {
      await Promise.all([first.stop(), second.stop()]);
      await balancer.close();
    },
    kill: async () => {
      await Promise.all([first.kill(), second.kill()]);
      await balancer.close();
    },
  };
}

/** The first of two processes, with signals for both. */
function onBoth(first: TestService['process'], second: TestService['process']): TestService['process'] {
  return {
    pid: first.pid,
    signal: (signal) => {
      first.signal(signal);
      second.signal(signal);
    },
    whenFinished: () => Promise.all([first.whenFinished(), second.whenFinished()]).then(([exit]) => exit),
  };
}

async function startInstance(app: string, env: NodeJS.ProcessEnv, output: string[]): Promise<TestService> {
  let url = '';
  const service = superviseProcess({
    name: app,
    ...nodeProgram(app),
    env: {
      ...programVariables,
      ...cleanEnvironment(),
      HOST: '127.0.0.1',
      [portVariable(app)]: '0',
      SHUTDOWN_GRACE_MS: '4000',
      ...natsVariables(app, env.NATS_URL),
      ...env,
      LOG_LEVEL: 'info',
    },
    readiness: async (child) => {
      url = await waitForListeningUrl(child);
      await waitForHttp(`${url}/ready`, child.signal);
    },
    restart: false,
    stopGraceMs: 45_000,
    onLine: (line) => output.push(line.text),
  });
  await whenReadyOrStopped(service);
  return {
    url,
    instances: [url],
    process: service,
    output,
    stop: () => service.stop(),
    kill: async () => {
      service.signal('SIGKILL');
      await service.whenFinished();
    },
  };
}
