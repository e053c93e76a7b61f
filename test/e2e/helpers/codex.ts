import { execFile, spawn } from 'node:child_process';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createTemporaryDirectory } from '#platform/testing';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('../clients/codex/', import.meta.url));
const program = join(folder, 'node_modules', '.bin', 'codex');

/** A line that `codex exec --json` prints. */
export interface CodexEvent {
  type: string;
  item?: {
    type: string;
    status?: string;
    text?: string;
    command?: string;
    aggregated_output?: string;
    exit_code?: number;
    changes?: { path: string; kind: string }[];
  };
  usage?: { input_tokens: number; output_tokens: number };
  error?: { message: string };
  message?: string;
}

export interface CodexSettings {
  gatewayUrl: string;
  model: string;
  webSockets?: boolean;
  /** Tokens beyond which the conversation is compacted. */
  compactAbove?: number;
}

/** The Codex CLI with a home and a working folder of its own. */
export interface Codex {
  /** The folder that it works in. */
  work: string;
  /** Runs one turn without a terminal; `resume` goes on with the last conversation, `settings` are as in its config.toml. */
  exec(prompt: string, resume?: boolean, settings?: readonly string[]): Promise<CodexEvent[]>;
  remove(): Promise<void>;
}

/** Installs the CLI on first use; it is too large for the project's own dependencies. */
export async function installCodex(): Promise<void> {
  const installed = await access(program).then(
    () => true,
    () => false,
  );
  if (!installed) await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder });
}

export async function startCodex(settings: CodexSettings): Promise<Codex> {
  const directory = await createTemporaryDirectory();
  const home = join(directory.path, 'home');
  const work = join(directory.path, 'work');
  await Promise.all([mkdir(home), mkdir(work)]);
  await writeFile(join(home, 'config.toml'), configuration(settings));
  return {
    work,
    exec: async (prompt, resume = false, more = []) => {
      const flags = ['--skip-git-repo-check', '--json', '--dangerously-bypass-approvals-and-sandbox'];
      flags.push(...more.flatMap((setting) => ['-c', setting]));
      const command = resume ? ['exec', ...flags, 'resume', '--last', prompt] : ['exec', ...flags, prompt];
      return parseLines(await output(command, { ...process.env, CODEX_HOME: home }, work));
    },
    remove: () => directory.remove(),
  };
}

function configuration({ gatewayUrl, model, webSockets = false, compactAbove }: CodexSettings): string {
  return [
    `model = ${JSON.stringify(model)}`,
    'model_provider = "meganest"',
    ...(compactAbove === undefined ? [] : [`model_auto_compact_token_limit = ${compactAbove}`]),
    '[model_providers.meganest]',
    'name = "MegaNest"',
    `base_url = ${JSON.stringify(`${gatewayUrl}/v1`)}`,
    'wire_api = "responses"',
    'request_max_retries = 0',
    'stream_max_retries = 0',
    `supports_websockets = ${webSockets}`,
    // With a key from a command it asks the provider for its models.
    '[model_providers.meganest.auth]',
    'command = "echo"',
    'args = ["no-key-is-needed"]',
    '',
  ].join('\n');
}

/** Its standard input is closed: an open one is read to the end before the turn begins. */
function output(command: string[], env: NodeJS.ProcessEnv, cwd: string): Promise<string> {
  const child = spawn(program, command, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => printed.push(text));
  child.stderr.resume();
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve(printed.join('')));
  });
}

function parseLines(text: string): CodexEvent[] {
  const lines = text.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as CodexEvent);
}

/** What the model said in a turn. */
export function codexAnswers(events: readonly CodexEvent[]): string[] {
  return events.flatMap(({ type, item }) =>
    type === 'item.completed' && item?.type === 'agent_message' ? [item.text ?? ''] : [],
  );
}
