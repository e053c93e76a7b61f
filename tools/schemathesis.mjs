/**
 * `npm run test:schemathesis`: compares a running stack with its `/openapi.json`, by Schemathesis (Python, from PyPI):
 * an answer with a status 5xx, a status, media type or header that the document does not have, and a body that its
 * schema does not have are failures. `--url http://…` takes a stack that runs already; `--seconds N` limits the time
 * (300). Other arguments go to Schemathesis. Where PyPI or a Python is out of reach it says "skipped: …" and succeeds;
 * with SCHEMATHESIS_REQUIRED=true it fails.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const release = 'schemathesis==4.32.5';
const environment = resolve('node_modules/.cache/meganest', release);
const program = join(environment, 'bin/schemathesis');

const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
];
/** Paths without `/v1` are the same routes under a second name. */
const twins =
  '^/(batches|chat|completions|tokenize|detokenize|conversations|files|uploads|moderations|embeddings|models|responses|vector_stores)';
/** Ports of the services; 0 takes a free one. */
const ports = 'GATEWAY EMBEDDING RETRIEVAL RERANKING LLM DATAPREP GUARDRAIL ASR TTS'.split(' ');

const { values, positionals } = parseArgs({
  options: { url: { type: 'string' }, seconds: { type: 'string', default: '300' } },
  allowPositionals: true,
});

const problem = install();
if (problem !== undefined) {
  console.log(`skipped: ${problem}`);
  process.exit(process.env['SCHEMATHESIS_REQUIRED'] === 'true' ? 1 : 0);
}
const stack = values.url === undefined ? await startStack() : { url: values.url, stop: async () => {} };
try {
  process.exitCode = await test(stack.url);
} finally {
  await stack.stop();
}

/** Installs Schemathesis into the cache folder on first use. Returns why it cannot; undefined if it is there. */
function install() {
  if (existsSync(program)) return undefined;
  mkdirSync(environment, { recursive: true });
  const python = join(environment, 'bin/python');
  const ways = [
    [
      ['uv', 'venv', '--quiet', '--clear', environment],
      ['uv', 'pip', 'install', '--quiet', '--python', python, release],
    ],
    [
      ['python3', '-m', 'venv', '--clear', environment],
      [python, '-m', 'pip', 'install', '--quiet', release],
    ],
  ];
  const failures = ways.map((commands) => firstFailure(commands));
  return failures.includes(undefined) ? undefined : `${release} cannot be installed: ${failures.join('; ')}`;
}

/** Runs commands one after the other. Returns what the first failed one printed. */
function firstFailure(commands) {
  if (existsSync(program)) return undefined;
  for (const [command, ...args] of commands) {
    const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
    if (status === 0) continue;
    const reason = error?.message ?? stderr.trim().split('\n').at(-1);
    return `${command} ${args[0]}: ${reason}`;
  }
  return undefined;
}

/** Starts MegaNest on free ports with an empty data folder. */
async function startStack() {
  const data = mkdtempSync(join(tmpdir(), 'meganest-schemathesis-'));
  const free = Object.fromEntries(ports.map((name) => [`${name}_PORT`, '0']));
  const env = { ...process.env, ...free, MEGANEST_DATA_DIR: data };
  const child = spawn(process.execPath, ['--enable-source-maps', 'dist/launcher.js'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(data, { recursive: true, force: true });
  };
  let url;
  for await (const line of createInterface({ input: child.stdout })) {
    url ??= /^ {2}gateway +(\S+)$/.exec(line)?.[1];
    if (!line.startsWith('Ctrl-C stops')) continue;
    // Without a reader the launcher would wait for its output.
    child.stdout.resume();
    return { url, stop };
  }
  throw new Error('The stack ended before it was ready.');
}

async function test(url) {
  const options = {
    checks: checks.join(','),
    'exclude-path-regex': twins,
    'max-time': values.seconds,
    phases: 'examples,coverage,fuzzing',
    warnings: 'off',
    'request-timeout': '120',
    // Python 3.11's parser fails when several threads of Hypothesis use it.
    workers: '1',
    // Without the examples of earlier runs.
    'generation-database': 'none',
  };
  const named = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const args = ['run', `${url}/openapi.json`, '--continue-on-failure', ...named, ...positionals];
  const [status] = await once(spawn(program, args, { stdio: 'inherit', cwd: environment }), 'exit');
  return status ?? 1;
}
