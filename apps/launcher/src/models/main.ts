/** `npm run models -- pull|list|rm|check`: manages the downloaded models of the hub. */
import { parseArgs } from 'node:util';
import {
  canCompileAny,
  findDamage,
  listModels,
  ModelLoadError,
  parseHubId,
  pullModel,
  removeModel,
  type CachedModel,
  type HubModel,
  type ModelLoadOptions,
} from '#engine/models';
import { EnvironmentError, hubCacheOf, loadProfile, progressBar } from '#platform/service-kit';
import { modelRoles, readLauncherEnvironment, type LauncherEnvironment } from '../environment.js';

const usage = `Usage: npm run models -- <command> [models]

Models of the Hugging Face hub, as organization/name or organization/name@revision.

Commands:
  pull [models]    download models; default: the models of MEGANEST_PROFILE, LLM_MODEL_ID and the other *_MODEL_ID
  list             list the downloaded models
  rm <models>      remove models with all their revisions
  check [models]   compare every file with its hash; default: all downloaded models

HF_TOKEN, HF_ENDPOINT, HF_HOME and MEGANEST_DATA_DIR have the same meaning as for npm start.`;

const shortCommit = 12;

function readArguments(): { command: string; models: HubModel[]; help: boolean } {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { help: { type: 'boolean', default: false, short: 'h' } },
    });
    const [command = '', ...names] = positionals;
    return { command, models: names.map(readModel), help: values.help };
  } catch (error) {
    throw new EnvironmentError(`${(error as Error).message}\n\n${usage}`, { cause: error });
  }
}

function readModel(name: string): HubModel {
  const model = parseHubId(name);
  if (model === undefined)
    throw new Error(
      `"${name}" is not a model of the hub, such as organization/name or organization/name@revision.`,
    );
  return model;
}

function optionsOf(environment: LauncherEnvironment): ModelLoadOptions {
  const say = (line: string) => process.stderr.write(`${line}\n`);
  return {
    hubCache: hubCacheOf(environment),
    hubEndpoint: environment.HF_ENDPOINT,
    hubToken: environment.HF_TOKEN,
    onProgress: progressBar(say),
    onNotice: say,
  };
}

/** Models of the hub that the next start would load. */
function configuredModels(environment: LauncherEnvironment): HubModel[] {
  const profile = loadProfile(environment.MEGANEST_PROFILE);
  const roles = Object.keys(modelRoles) as (keyof typeof modelRoles)[];
  const sources = roles.map((role) => {
    const { model, endpoint } = modelRoles[role];
    return environment[endpoint] ? undefined : (environment[model] ?? profile[role].model);
  });
  return [...sources, environment.GUARDRAIL_MODEL_ID].flatMap((source) => parseHubId(source ?? '') ?? []);
}

async function pull(models: readonly HubModel[], options: ModelLoadOptions): Promise<void> {
  if (models.length === 0)
    throw new Error(`Name a model: neither the profile nor a variable names a model of the hub.\n\n${usage}`);
  for (const model of models) console.log(`${model.id}: ${await pullModel(model, options, canCompileAny)}`);
}

function rowOf({ id, commit, names, bytes, complete, directory }: CachedModel): string[] {
  const revision = [commit.slice(0, shortCommit), ...names].join(' ');
  return [id, revision, `${(bytes / 1e6).toFixed(1)} MB`, complete ? 'complete' : 'partial', directory];
}

async function list(options: ModelLoadOptions): Promise<void> {
  const rows = (await listModels(options)).map(rowOf);
  if (rows.length === 0) return console.log('No models of the hub are downloaded.');
  const widths = rows[0]!.map((_cell, column) => Math.max(...rows.map((row) => row[column]!.length)));
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    );
}

async function remove(models: readonly HubModel[], options: ModelLoadOptions): Promise<void> {
  if (models.length === 0) throw new Error(usage);
  for (const model of models) {
    const found = await removeModel(model, options);
    console.log(found ? `${model.id} is removed.` : `${model.id} is not in ${options.hubCache}.`);
    if (!found) process.exitCode = 1;
  }
}

async function check(models: readonly HubModel[], options: ModelLoadOptions): Promise<void> {
  const wanted = new Set(models.map(({ id }) => id));
  const cached = (await listModels(options)).filter(({ id }) => wanted.size === 0 || wanted.has(id));
  const absent = [...wanted].filter((id) => !cached.some((model) => model.id === id));
  for (const id of absent) console.log(`${id} is not downloaded.`);
  let faults = absent.length;
  for (const model of cached) {
    const damaged = await findDamage(model);
    const state = damaged.length > 0 ? `damaged: ${damaged.join(', ')}` : model.complete ? 'ok' : 'partial';
    console.log(`${model.id} ${model.commit.slice(0, shortCommit)}: ${state}`);
    if (state !== 'ok') faults += 1;
  }
  if (faults === 0) return;
  console.log('To repair a model: npm run models -- rm <model>, then pull <model>.');
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const { command, models, help } = readArguments();
  if (help) return console.log(usage);
  const environment = readLauncherEnvironment(process.env);
  const options = optionsOf(environment);
  if (command === 'pull') return pull(models.length > 0 ? models : configuredModels(environment), options);
  if (command === 'list') return list(options);
  if (command === 'rm') return remove(models, options);
  if (command === 'check') return check(models, options);
  throw new EnvironmentError(usage);
}

await main().catch((error: Error) => {
  console.error(error.message);
  if (error instanceof ModelLoadError && error.cause instanceof Error) console.error(error.cause.message);
  process.exitCode = 1;
});
