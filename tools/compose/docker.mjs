/** Commands of Docker and Compose for `npm run test:compose`, with a project, a tag and a port of their own. */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** A program ended with an error; `output` has what it wrote. */
export class CommandError extends Error {
  constructor(command, code, output) {
    super(`${command} ended with ${code}\n${output.slice(-6_000)}`);
    this.output = output;
  }
}

/** Aborted by a signal and when the whole test lasts too long. Only what cleans up goes on then. */
export const stopping = new AbortController();

/** Ends a program and everything that it started. */
function killGroup({ pid }) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

/**
 * Runs a program; resolves with its standard output. `env` is added to the environment, `input` is its standard input,
 * `binary` returns bytes, and `cleansUp` goes on when the test is stopped. Errors: CommandError for an exit code other
 * than 0, and after `timeoutMs`; the reason of `stopping`.
 */
export function run(command, args, options = {}) {
  const { env = {}, input, binary = false, timeoutMs = 300_000, cleansUp = false } = options;
  return new Promise((resolve, reject) => {
    if (!cleansUp) stopping.signal.throwIfAborted();
    // A process group of its own: a terminal's Ctrl+C does not reach the commands that clean up.
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    const end = () => killGroup(child);
    const timer = setTimeout(end, timeoutMs);
    if (!cleansUp) stopping.signal.addEventListener('abort', end);
    const [output, all] = [[], []];
    child.stdout.on('data', (data) => (output.push(data), all.push(data)));
    child.stderr.on('data', (data) => all.push(data));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      stopping.signal.removeEventListener('abort', end);
      if (code === 0) return resolve(binary ? Buffer.concat(output) : Buffer.concat(output).toString());
      if (!cleansUp && stopping.signal.aborted) return reject(stopping.signal.reason);
      const shown = [command, ...args].join(' ');
      reject(new CommandError(shown, code ?? signal, Buffer.concat(all).toString()));
    });
  });
}

async function freeNetwork(network) {
  const format = '{{range .Containers}}{{println .Name}}{{end}}';
  const options = { cleansUp: true };
  const names = await run('docker', ['network', 'inspect', '--format', format, network], options);
  for (const name of names.split('\n').filter(Boolean))
    await run('docker', ['network', 'disconnect', '--force', network, name], options);
}

/** The settings of the tested installation: never those of a .env file or of an installation that runs. */
export function makeProject({ port, name = 'meganest-test' }) {
  const env = {
    COMPOSE_PROJECT_NAME: name,
    MEGANEST_VERSION: 'compose-test',
    GATEWAY_PORT: String(port),
    COMPOSE_ANSI: 'never',
    COMPOSE_PROGRESS: 'plain',
    BUILDKIT_PROGRESS: 'plain',
  };
  const composeOnce = (args, { files = [], ...options } = {}) => {
    const named = ['docker-compose.yml', ...files].flatMap((file) => ['--file', file]);
    const all = ['compose', '--env-file', '/dev/null', ...named, ...args];
    return run('docker', all, { ...options, env: { ...env, ...options.env } });
  };
  /** The engine may keep the endpoint of a killed container. Its network is then freed, and removed by a second try. */
  const compose = async (args, options) => {
    try {
      return await composeOnce(args, options);
    } catch (error) {
      const [, network] = /failed to remove network (\S+):.*active endpoints/.exec(error.output ?? '') ?? [];
      if (args[0] !== 'down' || network === undefined) throw error;
      await freeNetwork(network);
      return composeOnce(args, options);
    }
  };
  /** The containers of the project: `{ name, service, id, state, health, pid }`. */
  const containers = async () => {
    const filter = `label=com.docker.compose.project=${name}`;
    const ids = (await run('docker', ['ps', '--all', '--quiet', '--filter', filter]))
      .split('\n')
      .filter(Boolean);
    if (ids.length === 0) return [];
    return JSON.parse(await run('docker', ['inspect', ...ids])).map(({ Id, Name, State, Config, Image }) => ({
      id: Id,
      name: Name.slice(1),
      service: Config.Labels['com.docker.compose.service'],
      state: State.Status,
      exitCode: State.ExitCode,
      health: State.Health?.Status,
      startedAt: State.StartedAt,
      pid: State.Pid,
      image: Image,
    }));
  };
  const image = `meganest:${env.MEGANEST_VERSION}`;
  return { image, compose, containers, url: `http://127.0.0.1:${port}` };
}
