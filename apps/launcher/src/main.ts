/** `npm start`: all of MegaNest on one machine. */
import { services, StartFailedError } from '#platform/local-stack';
import { projectRoot } from '#platform/foundation';
import { EnvironmentError, needsKeys, version } from '#platform/service-kit';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepareDataDirectory } from './data-directory.js';
import {
  describeMisspelled,
  launcherEnvironmentSchema,
  readLauncherEnvironment,
  type LauncherEnvironment,
} from './environment.js';
import { Launcher } from './launcher.js';
import { lookForEngine } from './local-engine.js';
import { describeConfiguration, describeReady } from './summary.js';
import { withOwnKey } from './own-key.js';
import { ingestSampleDocuments } from './sample-documents.js';

const ports = services.map(({ portVariable, defaultPort }) => `${portVariable}=${defaultPort}`).join(' ');

/** Output of `npm start -- --help`. */
const helpText = `Usage: npm start [-- <option>]

Starts MegaNest: every service, with an embedded Postgres and a NATS server unless others are named. Ctrl-C stops it.

Options:
  --help           show this text
  --version        show the version
  --print-config   show every variable with its value, secrets masked

Settings are environment variables, e.g. GATEWAY_PORT=9999 npm start. The usual ones:
  MEGANEST_PROFILE=bundled    hub-small, hub or hub-large fetch real models from the Hugging Face hub
  LLM_MODEL_ID                a bundled name, a folder or a hub id (organization/name)
  LLM_ENDPOINT                a server with OpenAI's API in place of a local model, e.g. http://localhost:11434/v1
  MEGANEST_ENGINE=auto        Ollama, LM Studio, llama-server or vLLM on this machine in place of a local model
  API_KEYS                    comma list of keys; needed for a public HOST
  HOST=127.0.0.1              address to listen on
  MEGANEST_DATA_DIR=.data     where everything is stored
  NATS_URL, DATABASE_URL      servers of your own
  ${ports.replaceAll(/(.{60,100}?) /g, '$1\n  ')}

docs/configuration.md lists every variable. npm run doctor looks for problems, and docs/troubleshooting.md explains them.`;

function fail(error: unknown): void {
  console.error(
    error instanceof EnvironmentError ? describe(error) : `MegaNest did not start.\n${describe(error)}`,
  );
  process.exitCode = 1;
}

/** The message of an error. Of a failed child it is the first line: the other lines are on the console already. */
function describe(error: unknown): string {
  if (error instanceof StartFailedError) return error.message.split('\n', 1).join('');
  return error instanceof Error ? error.message : String(error);
}

async function ingestSamples(launcher: Launcher, environment: LauncherEnvironment): Promise<void> {
  if (!environment.MEGANEST_SAMPLE_DOCUMENTS) return;
  try {
    const { ingested, failed } = await ingestSampleDocuments({
      projectDirectory: projectRoot,
      markerPath: join(environment.MEGANEST_DATA_DIR, 'sample-documents.json'),
      dataprepUrl: launcher.urlOf('dataprep'),
      apiKey: environment.API_KEYS[0],
    });
    if (ingested.length > 0) console.log(`ingested   ${ingested.join(', ')}`);
    for (const { filename, reason } of failed) console.error(`failed     ${filename}: ${reason}`);
    if (failed.length > 0)
      console.error(`failed     ${failed.length} sample documents; the next start tries them again`);
  } catch (error) {
    console.error(`The sample documents could not be ingested: ${describe(error)}`);
  }
}

/** Shows the problems that the services report in their health, although they work. */
async function reportWarnings(launcher: Launcher, { API_KEYS: [key] }: LauncherEnvironment): Promise<void> {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const signal = AbortSignal.timeout(5_000);
  try {
    const answer = await fetch(`${launcher.urlOf('gateway')}/v1/health_check`, { headers, signal });
    const { warnings = [] } = (await answer.json()) as { warnings?: string[] };
    for (const warning of warnings) console.error(`\nwarning    ${warning}`);
  } catch {
    // The gateway was ready. Its supervision reports what happened to it.
  }
}

/**
 * Stops when npm ends, if `npm start` started this process: a killed npm cannot pass a signal on. A process that was
 * started in another way outlives its parent, as `nohup` and init systems need.
 */
function stopWithNpm(stop: () => void): void {
  if (!/^start(:built)?$/.test(process.env.npm_lifecycle_event ?? '')) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    stop();
  }, 500);
  watch.unref();
}

function stopOnSignals(launcher: Launcher): void {
  let asked = false;
  const stop = () => {
    // The second signal exits at once. The children end when their parent is gone.
    if (asked) process.exit(1);
    asked = true;
    console.log('\nStopping …');
    void launcher.stop().then(
      () => process.exit(process.exitCode ?? 0),
      (error: unknown) => {
        console.error(describe(error));
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', stop).on('SIGTERM', stop).on('SIGHUP', stop);
  stopWithNpm(stop);
}

async function run(given: NodeJS.ProcessEnv): Promise<void> {
  // Before the services start, so that none of them is found.
  const found = await lookForEngine(readLauncherEnvironment(given));
  if (found.line) console.log(found.line);
  const variables = { ...given, ...found.variables };
  const environment = readLauncherEnvironment(variables);
  const launcher = new Launcher(environment, variables);
  stopOnSignals(launcher);
  try {
    await launcher.start(() => ingestSamples(launcher, environment));
  } catch (error) {
    fail(error);
    if (error instanceof StartFailedError)
      console.error(`See ${join(launcher.logDirectory, `${error.processName}.log`)}`);
    await launcher.stop();
    return process.exit();
  }
  console.log(
    describeReady({
      gatewayUrl: launcher.urlOf('gateway'),
      addresses: launcher.servedAddresses,
      logDirectory: launcher.logDirectory,
      needsKey: needsKeys(environment),
      webUi: environment.WEB_UI,
      readyAfterMs: performance.now(),
    }),
  );
  await reportWarnings(launcher, environment);
}

function readOptions() {
  const flag = { type: 'boolean', default: false } as const;
  try {
    return parseArgs({ options: { 'print-config': flag, help: { ...flag, short: 'h' }, version: flag } })
      .values;
  } catch (error) {
    throw new EnvironmentError(`${describe(error)}\n\n${helpText}`, { cause: error });
  }
}

async function main(): Promise<void> {
  const options = readOptions();
  if (options.help) return console.log(helpText);
  if (options.version) return console.log(version);
  // This process and its children write documents, requests and secrets: only the owner may read them.
  process.umask(0o077);
  const environment = readLauncherEnvironment(process.env);
  for (const line of describeMisspelled(process.env, Object.keys(launcherEnvironmentSchema.shape)))
    console.error(`warning    ${line}`);
  if (options['print-config']) return console.log(describeConfiguration(environment));
  await prepareDataDirectory(environment.MEGANEST_DATA_DIR);
  await run(withOwnKey(process.env, environment));
}

await main().catch(fail);
