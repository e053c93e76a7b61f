import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { onnxCandidates, type WeightType } from '../model/load-options.js';
import { ModelLoadError, readJson, readOptionalJson } from '../model/model-files.js';

/** A hub model, and its branch, tag or commit. */
export interface HubModel {
  /** `organization/name`. */
  readonly id: string;
  readonly revision: string;
}

const commitPattern = /^[0-9a-f]{40}$/;
const idPattern = /^([\w-][\w.-]*\/[\w.-]+)(?:@([\w./-]+))?$/;

/** Parses `organization/name` or `organization/name@revision`; undefined for any other text. */
export function parseHubId(source: string, revision = 'main'): HubModel | undefined {
  const [, id, named = revision] = idPattern.exec(source) ?? [];
  if (id === undefined || named.split('/').some((part) => part === '' || part.startsWith('.')))
    return undefined;
  return { id, revision: named };
}

/** Folders of models in the layout of the hub's own clients. */
export interface HubCaches {
  /** Target of downloads. */
  readonly own: string;
  /** Read-only caches, e.g. the cache of Python's `huggingface_hub`. */
  readonly others: readonly string[];
}

/** Default folder of the hub's clients; HF_HUB_CACHE and HF_HOME override it. */
export function defaultHubCache(variables: NodeJS.ProcessEnv = process.env): string {
  const base = variables['XDG_CACHE_HOME'] || path.join(homedir(), '.cache');
  return path.join(base, 'huggingface', 'hub');
}

/** The folder of one model in one cache: `blobs`, `refs` and `snapshots` as the hub's clients write them. */
export class HubFolder {
  readonly path: string;

  constructor(
    readonly cache: string,
    readonly model: HubModel,
  ) {
    this.path = path.join(cache, `models--${model.id.replaceAll('/', '--')}`);
  }

  /** Returns the downloaded commit of the wanted revision; undefined if it is not downloaded. */
  async commit(): Promise<string | undefined> {
    const { revision } = this.model;
    if (commitPattern.test(revision)) return revision;
    const text = await readFile(this.refPath, 'utf8').catch(() => '');
    return commitPattern.test(text.trim()) ? text.trim() : undefined;
  }

  snapshot(commit: string): string {
    return path.join(this.path, 'snapshots', commit);
  }

  blob(tag: string): string {
    return path.join(this.path, 'blobs', tag);
  }

  /** Adds a blob to a snapshot: a link, or a copy if the file system does not support links. */
  async link(commit: string, file: string, tag: string): Promise<void> {
    const target = path.join(this.snapshot(commit), file);
    if (existsSync(target)) return;
    await mkdir(path.dirname(target), { recursive: true });
    const draft = `${target}.${randomUUID()}`;
    try {
      await symlink(path.relative(path.dirname(target), this.blob(tag)), draft);
    } catch {
      await copyFile(this.blob(tag), draft);
    }
    await rename(draft, target);
  }

  /** Makes the revision refer to this commit. */
  async pin(commit: string): Promise<void> {
    if (commitPattern.test(this.model.revision)) return;
    await mkdir(path.dirname(this.refPath), { recursive: true });
    const draft = `${this.refPath}.${randomUUID()}`;
    await writeFile(draft, commit);
    await rename(draft, this.refPath);
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  private get refPath(): string {
    return path.join(this.path, 'refs', ...this.model.revision.split('/'));
  }
}

/** Returns a file name of the hub. Throws ModelLoadError for a name that leads out of the model's folder. */
export function insideModel(id: string, file: string): string {
  const isInside = file.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (isInside && !file.includes('\\') && !file.includes('\0')) return file;
  throw new ModelLoadError(`${id} names the file "${file}", outside its folder.`);
}

/** Files other than weights that are downloaded if the model has them. */
export const smallFiles = [
  'config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'generation_config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
  'chat_template.json',
  'modules.json',
  'config_sentence_transformers.json',
  'preprocessor_config.json',
  'processor_config.json',
  'vocab.json',
  'sentence_bert_config.json',
];

const modulesSchema = z.array(z.looseObject({ path: z.string(), type: z.string() }));

/**
 * Returns the files of the modules that follow the transformer in modules.json; the pooling's without modules.json.
 * Weights only for those that have any. Throws ModelLoadError for a folder outside the model.
 */
export async function listModuleFiles(id: string, snapshot: string): Promise<string[]> {
  const modules = await readOptionalJson(snapshot, 'modules.json', modulesSchema);
  const pooling = '1_Pooling/config.json';
  if (!modules) return [pooling];
  return modules
    .filter(({ path: folder }) => folder !== '')
    .flatMap(({ path: folder, type }) => {
      const hasWeights = /\.(Dense|LayerNorm)$/.test(type);
      const isRequired = hasWeights || type.endsWith('.Pooling');
      const names = [...(isRequired ? ['config.json'] : []), ...(hasWeights ? ['model.safetensors'] : [])];
      return names.map((name) => insideModel(id, `${folder}/${name}`));
    });
}

/** Returns the first required file that is missing. Speech models with a list of units need no tokenizer. */
export function missingFile(has: (file: string) => boolean): string | undefined {
  const isSpeech = has('vocab.json') && !has('tokenizer.json');
  const required = isSpeech ? ['config.json'] : ['config.json', 'tokenizer.json', 'tokenizer_config.json'];
  return required.find((file) => !has(file));
}

/** Name of the weights in a single file; the index below lists weights in several files. */
export const checkpointFile = 'model.safetensors';
export const indexFile = 'model.safetensors.index.json';

const shardIndexSchema = z.object({ weight_map: z.record(z.string(), z.string()) });

/** Returns the weight files that the index of a snapshot names. Throws ModelLoadError for a file in another folder. */
export async function listShards(id: string, snapshot: string): Promise<string[]> {
  const { weight_map: shards } = await readJson(snapshot, indexFile, shardIndexSchema);
  return [...new Set(Object.values(shards))].map((shard) => insideModel(id, shard));
}

/** Returns the preferred graph among `files`, with the files that belong to it; undefined if there is no graph. */
export function findGraph(files: ReadonlySet<string>, types?: readonly WeightType[]): string[] | undefined {
  const graph = onnxCandidates(types).find((file) => files.has(file));
  if (graph === undefined) return undefined;
  // The encoder of an encoder-decoder model is a second graph in the same folder.
  const encoder = graph.replace('decoder_model_merged', 'encoder_model');
  const family = [`${graph}_data`, encoder, `${encoder}_data`, graph];
  return [...new Set(family)].filter((file) => files.has(file));
}

/** Returns true if a snapshot has all files that the loaders read. A download links the weights last. */
export async function isComplete(
  id: string,
  snapshot: string,
  weights: { canCompile: () => Promise<boolean>; types?: readonly WeightType[] },
): Promise<boolean> {
  const has = (file: string) => existsSync(path.join(snapshot, file));
  if (missingFile(has) !== undefined) return false;
  if (has('modules.json') && !(await listModuleFiles(id, snapshot)).every(has)) return false;
  if (onnxCandidates(weights.types).some(has)) return true;
  if (!(await weights.canCompile())) return false;
  if (has(checkpointFile)) return true;
  return has(indexFile) && (await listShards(id, snapshot)).every(has);
}
