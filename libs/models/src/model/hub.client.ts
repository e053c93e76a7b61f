import { createHash, randomUUID, type Hash } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { z } from 'zod';
import { readJson } from './json-file.js';
import type { ModelLoadOptions } from './load-options.js';
import { ModelLoadError } from './model-load-error.js';
import { onnxCandidates } from './onnx-file.js';

const requiredFiles = ['config.json', 'tokenizer.json', 'tokenizer_config.json'];
const optionalFiles = [
  'generation_config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
  'modules.json',
  'preprocessor_config.json',
  'vocab.json',
  'sentence_bert_config.json',
  '1_Pooling/config.json',
];
/** Says from the config.json of a folder whether we compile such models ourselves, so that safetensors are enough. */
export type CompileCheck = (directory: string) => Promise<boolean>;

const shardIndexSchema = z.object({ weight_map: z.record(z.string(), z.string()) });

/** Written last: a folder without it is a download that broke off. */
const completeMarker = '.complete';

/**
 * Copies a model of the hub into the cache folder and returns that folder; a complete copy is used without network.
 * Throws ModelLoadError when the hub may not be used, cannot be reached, or lacks a file.
 */
export async function downloadModel(
  id: string,
  options: ModelLoadOptions,
  canCompile: CompileCheck,
): Promise<string> {
  const revision = options.revision ?? 'main';
  const cache = path.resolve(options.cacheDirectory ?? path.join('.data', 'models'));
  const directory = path.join(cache, ...id.split('/'), ...(revision === 'main' ? [] : [revision]));
  const marker = path.join(directory, completeMarker);
  if (existsSync(marker)) return directory;
  if (!options.allowHub) {
    throw new ModelLoadError(
      `The model "${id}" is not in the cache (${directory}) and downloads are not allowed; name it in a variable (LLM_MODEL_ID and its siblings), use MEGANEST_PROFILE=hub, or a local folder.`,
    );
  }
  const download = new Download(id, revision, directory, options);
  for (const file of requiredFiles) await download.require(file);
  for (const file of optionalFiles) await download.tryFetch(file);
  const compiles = options.engine !== 'exporter' && (await canCompile(directory));
  if (!compiles || !(await download.fetchCheckpoint())) await download.fetchGraph();
  await writeFile(marker, new Date().toISOString());
  return directory;
}

const mostRedirects = 5;

/** Where an answer leads, undefined where it is the file itself. */
function redirectOf({ status, headers }: Response): string | undefined {
  return status >= 300 && status < 400 ? (headers.get('location') ?? undefined) : undefined;
}

/** The SHA-256 that the hub gives as the tag of a large file; small files have tags of another kind. */
function sha256Of(tag: string | null): string | undefined {
  return /^"?([0-9a-f]{64})"?$/.exec(tag ?? '')?.[1];
}

class Download {
  constructor(
    private readonly id: string,
    private readonly revision: string,
    private readonly directory: string,
    private readonly options: ModelLoadOptions,
  ) {}

  async require(file: string): Promise<void> {
    if (!(await this.tryFetch(file))) throw new ModelLoadError(`The hub model "${this.id}" has no ${file}.`);
  }

  /** Fetches the safetensors, in one file or in shards; false when there are none. */
  async fetchCheckpoint(): Promise<boolean> {
    if (await this.tryFetch('model.safetensors')) return true;
    const index = 'model.safetensors.index.json';
    if (!(await this.tryFetch(index))) return false;
    const { weight_map: shards } = await readJson(this.directory, index, shardIndexSchema);
    for (const shard of new Set(Object.values(shards))) {
      if (shard.includes('/'))
        throw new ModelLoadError(`${this.id}/${index} names "${shard}", outside its folder.`);
      await this.require(shard);
    }
    return true;
  }

  /** Fetches the first graph that exists, with its external weights where it has them. */
  async fetchGraph(): Promise<void> {
    const candidates = onnxCandidates(this.options.weightTypes);
    for (const file of candidates) {
      if (!(await this.tryFetch(file))) continue;
      await this.tryFetch(`${file}_data`);
      // Models that hear or read with an encoder have it in a graph beside.
      const encoder = file.replace('decoder_model_merged', 'encoder_model');
      if (encoder !== file && (await this.tryFetch(encoder))) await this.tryFetch(`${encoder}_data`);
      return;
    }
    throw new ModelLoadError(
      `The hub model "${this.id}" has no ONNX graph; looked for ${candidates.join(', ')}.`,
    );
  }

  /** False when the hub has no such file. */
  async tryFetch(file: string): Promise<boolean> {
    const target = path.join(this.directory, file);
    if (existsSync(target)) return true;
    const { response, sha256 } = await this.request(file);
    if (response.status === 404) {
      await response.body?.cancel();
      return false;
    }
    if (!response.ok || !response.body) throw this.refusal(file, response.status);
    await this.store(file, target, response, sha256);
    return true;
  }

  /** Follows redirects by itself: the hub names the hash of a large file in the answer that leads to its storage. */
  private async request(file: string): Promise<{ response: Response; sha256?: string }> {
    const endpoint = this.options.hubEndpoint ?? 'https://huggingface.co';
    const url = `${endpoint}/${this.id}/resolve/${encodeURIComponent(this.revision)}/${file}`;
    const headers: Record<string, string> = this.options.hubToken
      ? { authorization: `Bearer ${this.options.hubToken}` }
      : {};
    let redirects = 0;
    try {
      let sha256: string | undefined;
      for (let address = url; ;) {
        const isHub = new URL(address).origin === new URL(url).origin;
        const response = await fetch(address, { redirect: 'manual', ...(isHub && { headers }) });
        if (isHub) sha256 = sha256Of(response.headers.get('x-linked-etag')) ?? sha256;
        const next = redirectOf(response);
        if (next === undefined) return { response, ...(sha256 !== undefined && { sha256 }) };
        await response.body?.cancel();
        redirects += 1;
        if (redirects > mostRedirects) throw new Error('it redirects too often');
        address = new URL(next, address).href;
      }
    } catch (error) {
      throw new ModelLoadError(`${url} cannot be reached while loading "${this.id}".`, { cause: error });
    }
  }

  private refusal(file: string, status: number): ModelLoadError {
    const hint =
      status === 401 || status === 403 ? ' The model does not exist or is gated: set HF_TOKEN.' : '';
    return new ModelLoadError(`The hub answered ${status} for ${this.id}/${file}.${hint}`);
  }

  /** Writes beside the target and renames, so that a broken download never looks like a file. */
  private async store(file: string, target: string, response: Response, sha256?: string): Promise<void> {
    await mkdir(path.dirname(target), { recursive: true });
    // Not by process id: in containers that share a volume all processes may have the same.
    const partial = `${target}.${randomUUID()}.partial`;
    const hash = createHash('sha256');
    const body = Readable.fromWeb(response.body as ReadableStream<Uint8Array>);
    try {
      await pipeline(body, this.meter(file, response, hash), createWriteStream(partial));
      const actual = hash.digest('hex');
      if (sha256 !== undefined && actual !== sha256)
        throw new Error(`its SHA-256 is ${actual}, the hub says ${sha256}`);
      await rename(partial, target);
    } catch (error) {
      await rm(partial, { force: true });
      const reason = error instanceof Error ? `: ${error.message}` : '';
      throw new ModelLoadError(`The download of ${this.id}/${file} failed${reason}.`, { cause: error });
    }
  }

  private meter(file: string, response: Response, hash: Hash): Transform {
    const length = Number(response.headers.get('content-length'));
    const totalBytes = length > 0 ? length : undefined;
    const { id, options } = this;
    let loadedBytes = 0;
    return new Transform({
      transform(chunk: Uint8Array, _encoding, done) {
        loadedBytes += chunk.length;
        hash.update(chunk);
        options.onProgress?.({ model: id, file, loadedBytes, totalBytes });
        done(null, chunk);
      },
    });
  }
}
