import {
  nodeProgram,
  programVariables,
  superviseProcess,
  waitForHttp,
  waitForListeningUrl,
  whenReadyOrStopped,
  type SupervisedProcess,
} from '#local-stack';

/** A service of apps/ as a process of its own. */
export interface TestService {
  /** http://127.0.0.1:… */
  url: string;
  process: SupervisedProcess;
  /** What it printed so far, line by line. */
  output: readonly string[];
  /** Ends it as Ctrl-C would, waiting for its end. */
  stop(): Promise<void>;
  /** Ends it at once, as a crash would (SIGKILL), waiting for its end. */
  kill(): Promise<void>;
}

/** The variable that sets a service's port: `EMBEDDING_PORT`. */
export function portVariable(app: string): string {
  return `${app.toUpperCase()}_PORT`;
}

/** This process's environment without what would lead a service under test to the developer's own servers. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ', 'NODE_EXTRA_CA_CERTS'];
  return Object.fromEntries(kept.map((name) => [name, process.env[name]]));
}

/**
 * Starts `node dist/<app>.js` (needs a build) on a random port unless `env` names one, and waits until
 * GET /ready answers 200. Errors: StartFailedError with the service's last lines.
 */
export async function startService(app: string, env: NodeJS.ProcessEnv = {}): Promise<TestService> {
  const output: string[] = [];
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
    process: service,
    output,
    stop: () => service.stop(),
    kill: async () => {
      service.signal('SIGKILL');
      await service.whenFinished();
    },
  };
}
