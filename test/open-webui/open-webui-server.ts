import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDirectory, createTemporaryDirectory, freePort } from '#platform/testing';

/** The release that is tested, with the Python versions that it accepts. */
const release = 'open-webui==0.12.4';
const pythons = ['python3.12', 'python3.11', 'python3'];
const environment = join(cacheDirectory, 'open-webui');

/** A running Open WebUI with MegaNest as its only connection. */
export interface OpenWebUi {
  url: string;
  /** The last lines that it printed, for errors of the tests. */
  output(): string;
  stop(): Promise<void>;
}

/** Installs Open WebUI into a virtual environment on first use (7 GB). Errors: what a program printed. */
export function installOpenWebUi(): void {
  if (existsSync(join(environment, 'bin/open-webui'))) return;
  const python = pythons.find((name) => spawnSync(name, ['--version']).status === 0);
  if (!python) throw new Error(`None of ${pythons.join(', ')} is on the PATH`);
  run(python, ['-m', 'venv', environment]);
  // uv resolves these 200 packages in seconds; pip needs minutes.
  run(join(environment, 'bin/pip'), ['install', '--quiet', 'uv']);
  const target = ['--python', join(environment, 'bin/python')];
  run(join(environment, 'bin/uv'), ['pip', 'install', '--quiet', ...target, release]);
}

function run(program: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`);
}

/** Starts it offline, with an empty data folder and without accounts. Errors: it ended, with its output. */
export async function startOpenWebUi(gatewayUrl: string): Promise<OpenWebUi> {
  const directory = await createTemporaryDirectory();
  const port = await freePort();
  const child = spawn(
    join(environment, 'bin/open-webui'),
    ['serve', '--host', '127.0.0.1', '--port', `${port}`],
    {
      cwd: directory.path,
      env: { PATH: process.env['PATH'], HOME: directory.path, ...settings(gatewayUrl, directory.path) },
    },
  );
  const ended = once(child, 'exit');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece: Buffer) => (output = (output + piece.toString()).slice(-20_000)));
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
    await directory.remove();
  };
  const url = `http://127.0.0.1:${port}`;
  const isHealthy = () =>
    fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isHealthy())) {
    if (child.exitCode !== null) throw new Error(`Open WebUI ended:\n${output}`);
    await Promise.race([ended, once(child.stderr, 'data'), once(child.stdout, 'data'), pause()]);
  }
  return { url, output: () => output, stop };
}

/** It opens its port without a line of output, so that only questions show when it is ready. */
function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 500));
}

function settings(gatewayUrl: string, dataDirectory: string): NodeJS.ProcessEnv {
  const api = `${gatewayUrl}/v1`;
  return {
    DATA_DIR: dataDirectory,
    WEBUI_SECRET_KEY: 'test',
    WEBUI_AUTH: 'False',
    OFFLINE_MODE: 'true',
    HF_HUB_OFFLINE: '1',
    ENABLE_OLLAMA_API: 'false',
    ANONYMIZED_TELEMETRY: 'false',
    OPENAI_API_BASE_URL: api,
    OPENAI_API_KEY: 'none',
    RAG_EMBEDDING_ENGINE: 'openai',
    RAG_OPENAI_API_BASE_URL: api,
    RAG_OPENAI_API_KEY: 'none',
    AUDIO_STT_ENGINE: 'openai',
    AUDIO_STT_OPENAI_API_BASE_URL: api,
    AUDIO_STT_OPENAI_API_KEY: 'none',
    AUDIO_TTS_ENGINE: 'openai',
    AUDIO_TTS_OPENAI_API_BASE_URL: api,
    AUDIO_TTS_OPENAI_API_KEY: 'none',
  };
}
