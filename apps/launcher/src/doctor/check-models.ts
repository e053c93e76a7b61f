import { canCompileAny, findDownloaded, parseHubId } from '#engine/models';
import { projectRoot } from '#platform/foundation';
import { hubCacheOf, loadProfile, type Profile } from '#platform/service-kit';
import type { DatabaseFacts } from '#platform/storage';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { modelRoles, type LauncherEnvironment } from '../environment.js';
import { maskUrl } from '../summary.js';
import { reachableHost } from '../service-ports.js';
import { fail, ok, reasonOf, warn, type Finding } from './finding.js';

/** Facts from the configuration files of a local model. */
interface ModelFacts {
  /** Name under which it is served. */
  id: string;
  /** Dimensions of its vectors, or of its hidden state. */
  width?: number;
  maxTokens?: number;
}

export interface ModelReport {
  findings: Finding[];
  /** Absent if the model is remote or missing. */
  embedding?: ModelFacts;
}

interface Role {
  check: string;
  variable: (typeof modelRoles)[keyof typeof modelRoles]['model'] | 'GUARDRAIL_MODEL_ID';
  source: string;
  endpoint?: string;
  /** Files that the folder must contain in addition to the weights. */
  files: readonly string[];
}

const textModelFiles = ['config.json', 'tokenizer.json'];

/** Estimated maximum of tokens per word in English text. */
const tokensPerWord = 1.5;
const endpointTimeoutMs = 3_000;

/** Checks the files of the models, their limits against the profile, and the remote engines. */
export async function checkModels(environment: LauncherEnvironment): Promise<ModelReport> {
  let profile: Profile;
  try {
    profile = loadProfile(environment.MEGANEST_PROFILE);
  } catch (error) {
    return { findings: [fail('profile', reasonOf(error), 'set MEGANEST_PROFILE to one of them')] };
  }
  const roles = [...rolesOf(environment, profile), ...guardrailRole(environment)];
  const reports = await Promise.all(roles.map((one) => checkRole(one, environment, profile)));
  const [embedding, reranking, llm] = reports.map(({ facts }) => facts);
  const limits = describeLimits(profile, { embedding, reranking, llm });
  return { findings: [...reports.map(({ finding }) => finding), ...limits], embedding };
}

function rolesOf(environment: LauncherEnvironment, profile: Profile): Role[] {
  return (Object.keys(modelRoles) as (keyof typeof modelRoles)[]).map((check) => {
    const { model: variable, endpoint } = modelRoles[check];
    const source = environment[variable] ?? profile[check].model;
    const files = check === 'asr' ? ['config.json'] : textModelFiles;
    return { check, variable, source, endpoint: environment[endpoint], files };
  });
}

/** Without a classifier the guardrail uses rules only. */
function guardrailRole({
  GUARDRAIL_MODEL_ID: source = '',
  TEI_GUARDRAIL_ENDPOINT: endpoint,
}: LauncherEnvironment): Role[] {
  if (source === '' && endpoint === undefined) return [];
  return [{ check: 'guardrail', variable: 'GUARDRAIL_MODEL_ID', source, endpoint, files: textModelFiles }];
}

async function checkRole(
  { check, variable, source, endpoint, files }: Role,
  environment: LauncherEnvironment,
  profile: Profile,
): Promise<{ finding: Finding; facts?: ModelFacts }> {
  if (endpoint !== undefined) return { finding: await checkEndpoint(check, endpoint) };
  const folder = await folderOf(source, environment);
  if (folder === undefined) {
    const named = environment[variable] !== undefined;
    if (parseHubId(source) !== undefined && (profile.allowHub || named))
      return {
        finding: warn(
          check,
          `${source} is not downloaded yet`,
          'the next start downloads it and needs a network',
        ),
      };
    const fix = `correct ${variable}: a bundled name, a folder or an organization/name of the hub`;
    return { finding: fail(check, `the model ${source} was not found`, fix) };
  }
  const missing = missingFiles(folder, files);
  if (missing.length > 0)
    return {
      finding: fail(check, `${folder} lacks ${missing.join(', ')}`, 'copy the whole model folder again'),
    };
  const facts = { ...readFacts(folder), id: servedId(source) };
  return { finding: ok(check, `${source}${describeFacts(facts)}`), facts };
}

function describeFacts({ maxTokens, width }: Omit<ModelFacts, 'id'>): string {
  const facts = [
    ...(maxTokens === undefined ? [] : [`${maxTokens} tokens`]),
    ...(width === undefined ? [] : [`width ${width}`]),
  ];
  return facts.length > 0 ? `: ${facts.join(', ')}` : '';
}

async function folderOf(source: string, environment: LauncherEnvironment): Promise<string | undefined> {
  const candidates = [join(projectRoot, 'models', source), resolve(source)];
  const folder = candidates.find((candidate) => existsSync(candidate));
  const model = parseHubId(source);
  if (folder !== undefined || model === undefined) return folder;
  return findDownloaded(model, { hubCache: hubCacheOf(environment) }, canCompileAny);
}

/**
 * Missing files of a folder in Hugging Face layout: configuration, tokenizer of a text model, weights of one format.
 */
function missingFiles(folder: string, wanted: readonly string[]): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const needed = wanted.filter((name) => !files.includes(name));
  const hasWeights = files.some((name) => name.endsWith('.safetensors') || name.endsWith('.onnx'));
  return hasWeights ? needed : [...needed, 'weights (*.safetensors or *.onnx)'];
}

/** The name under which a service serves the model of a source: the bundled name, the folder's name, or the hub's id. */
function servedId(source: string): string {
  if (existsSync(join(projectRoot, 'models', source))) return source;
  if (existsSync(resolve(source))) return basename(resolve(source));
  return parseHubId(source)?.id ?? source;
}

function readFacts(folder: string): Omit<ModelFacts, 'id'> {
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as Record<string, unknown>;
  const numberOf = (name: string) => (typeof config[name] === 'number' ? config[name] : undefined);
  return { width: numberOf('hidden_size'), maxTokens: numberOf('max_position_embeddings') };
}

/** Checks that an engine answers. Engines serve different paths, so that any status below 500 counts. */
async function checkEndpoint(check: string, endpoint: string): Promise<Finding> {
  try {
    const answer = await fetch(`${endpoint.replace(/\/$/, '')}/models`, {
      signal: AbortSignal.timeout(endpointTimeoutMs),
    });
    await answer.body?.cancel();
    if (answer.status < 500) return ok(check, `${maskUrl(endpoint)} answers`);
    return fail(check, `${maskUrl(endpoint)} answers ${answer.status}`, 'see the log of that engine');
  } catch (error) {
    const message = `${maskUrl(endpoint)} does not answer: ${reasonOf((error as Error).cause ?? error)}`;
    return fail(check, message, 'start that engine, or correct its address');
  }
}

function describeLimits(
  { chunking, reranking, llm: asked }: Profile,
  models: Record<'embedding' | 'reranking' | 'llm', ModelFacts | undefined>,
): Finding[] {
  const { max_tokens: answer = 0 } = { ...asked.parameters, ...asked.grounding.parameters };
  const prompt = (asked.grounding.maxContextWords ?? 0) * tokensPerWord + answer;
  const needs: [string, number, ModelFacts | undefined, string][] = [
    [
      'embedding',
      chunking.chunkSize * tokensPerWord,
      models.embedding,
      'make chunking.chunkSize of the profile smaller',
    ],
    [
      'reranking',
      reranking.maxPassageWords * tokensPerWord,
      models.reranking,
      'make reranking.maxPassageWords smaller',
    ],
    ['llm', prompt, models.llm, 'make llm.grounding.maxContextWords or the max_tokens of llm smaller'],
  ];
  return needs.flatMap(([check, tokens, facts, fix]) =>
    facts?.maxTokens !== undefined && tokens > facts.maxTokens
      ? [warn(check, `is given up to ${Math.round(tokens)} tokens and takes ${facts.maxTokens}`, fix)]
      : [],
  );
}

/** Facts from other checks. */
export interface KnownFacts {
  database?: DatabaseFacts;
  embedding?: ModelFacts;
  running: ReadonlySet<string>;
}

/** Checks that the index has documents, and that their vectors are of the embedding model. */
export async function checkIndex(environment: LauncherEnvironment, known: KnownFacts): Promise<Finding[]> {
  const { database, embedding } = known;
  const documents = database?.documents ?? (await countOverHttp(environment, known));
  if (documents === undefined) return [];
  if (typeof documents !== 'number') return [documents];
  if (documents === 0)
    return [
      warn('index', 'is empty, so no question finds an answer', 'ingest documents: POST /v1/dataprep/ingest'),
    ];
  const [width] = database?.widths ?? [];
  const foreign = embedding && database ? describeForeign(embedding, database) : [];
  if (width !== undefined && embedding?.width !== undefined && width !== embedding.width)
    return [
      fail(
        'index',
        `its vectors have ${width} dimensions, the embedding model makes ${embedding.width}`,
        'set EMBEDDING_MODEL_ID to the model of the index, or delete all documents and ingest them again',
      ),
      ...foreign,
    ];
  if (foreign.length > 0) return foreign;
  return [
    ok('index', `${documents} documents${width === undefined ? '' : `, vectors of ${width} dimensions`}`),
  ];
}

/** Warns of documents whose vectors another model made. */
function describeForeign({ id }: ModelFacts, { models }: DatabaseFacts): Finding[] {
  return models
    .filter(({ name }) => !name.startsWith(`${id}@`))
    .map(({ name, documents }) =>
      warn(
        'index',
        `the embedding model is ${id}, but ${documents} documents have vectors of ${name}: their collections are searched by words only`,
        'ingest these documents again, or set EMBEDDING_MODEL_ID to their model',
      ),
    );
}

/** Counts the documents over HTTP: only the services can reach the embedded database. */
async function countOverHttp(
  { SERVICES_HOST, DATAPREP_PORT, API_KEYS }: LauncherEnvironment,
  { running }: KnownFacts,
): Promise<number | Finding | undefined> {
  if (!running.has('dataprep')) return undefined;
  try {
    const answer = await fetch(`http://${reachableHost(SERVICES_HOST)}:${DATAPREP_PORT}/v1/dataprep/get`, {
      method: 'POST',
      headers: API_KEYS[0] ? { authorization: `Bearer ${API_KEYS[0]}` } : {},
      signal: AbortSignal.timeout(10_000),
    });
    if (answer.ok) return ((await answer.json()) as unknown[]).length;
    return fail('index', `dataprep answers ${answer.status}`, 'see the log of dataprep');
  } catch (error) {
    return fail('index', `dataprep does not answer: ${reasonOf(error)}`, 'see the log of dataprep');
  }
}
