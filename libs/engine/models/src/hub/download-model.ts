import { mkdir, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { ModelLoadOptions } from '../model/load-options.js';
import { ModelLoadError, ModelNotFoundError } from '../model/model-files.js';
import { DownloadLock } from './download-lock.js';
import { bytesAtHand, fetchBlob } from './fetch-blob.js';
import { HubApi, type HubFile } from './hub-api.js';
import {
  defaultHubCache,
  HubFolder,
  insideModel,
  type HubCaches,
  type HubModel,
  checkpointFile,
  findGraph,
  indexFile,
  isComplete,
  listModuleFiles,
  listShards,
  missingFile,
  smallFiles,
} from './hub-cache.js';

/** Returns true if the compiler supports the config.json of a folder, so that safetensors are enough. */
export type CompileCheck = (directory: string) => Promise<boolean>;

/** Files that are fetched at the same time. */
const parallelFiles = 4;
/** Disk space to leave free, e.g. for logs. */
const reserveBytes = 64 * 1024 * 1024;

/** Returns the caches of hub models. */
export function hubCaches(options: ModelLoadOptions): HubCaches {
  const own = options.hubCache ?? path.resolve(options.cacheDirectory ?? path.join('.data', 'models'), 'hub');
  return { own, others: options.otherHubCaches ?? [defaultHubCache()] };
}

/** Finds the folder of a model in the caches; undefined if the model is not downloaded. */
export async function findDownloaded(
  model: HubModel,
  options: ModelLoadOptions,
  canCompile: CompileCheck,
): Promise<string | undefined> {
  const { own, others } = hubCaches(options);
  for (const cache of [own, ...others]) {
    const folder = new HubFolder(cache, model);
    const commit = await folder.commit();
    if (commit === undefined) continue;
    const snapshot = folder.snapshot(commit);
    const compiles = async () => options.engine !== 'exporter' && (await canCompile(snapshot));
    if (await isComplete(model.id, snapshot, { canCompile: compiles, types: options.weightTypes }))
      return snapshot;
  }
  return undefined;
}

/**
 * Finds a hub model in the caches, or downloads it, and returns its folder. A cached model is used as it is,
 * without network. Throws ModelLoadError if downloads are not allowed, the hub is unreachable, or a file is missing.
 */
export async function downloadModel(
  model: HubModel,
  options: ModelLoadOptions,
  canCompile: CompileCheck,
): Promise<string> {
  const found = await findDownloaded(model, options, canCompile);
  if (found !== undefined) return found;
  const { own } = hubCaches(options);
  if (!options.allowHub) {
    throw new ModelLoadError(
      `The model "${model.id}" is not in the cache (${own}) and downloads are not allowed; name it in a variable (LLM_MODEL_ID and its siblings), use MEGANEST_PROFILE=hub, or a local folder.`,
    );
  }
  return pullModel(model, options, canCompile);
}

/** Downloads the current version of a hub model, except files that are cached already. Throws ModelLoadError. */
export async function pullModel(
  model: HubModel,
  options: ModelLoadOptions,
  canCompile: CompileCheck,
): Promise<string> {
  const { own } = hubCaches(options);
  let waited = false;
  const lock = await DownloadLock.acquire(own, model.id, (state) => {
    if (!waited) options.onNotice?.(`${model.id}: waiting for the process that downloads it`);
    waited = true;
    options.onProgress?.(state);
  });
  try {
    const meanwhile = waited ? await findDownloaded(model, options, canCompile) : undefined;
    return meanwhile ?? (await new Download(model, options, canCompile, lock).run());
  } finally {
    await lock.release();
  }
}

class Download {
  private readonly folder: HubFolder;
  private readonly api: HubApi;
  /** Downloaded bytes of each blob. */
  private readonly loaded = new Map<string, number>();
  private readonly fetched: string[] = [];
  /** Total of all files; known once the weights are chosen. */
  private totalBytes: number | undefined;
  /** Aborts the downloads of the other files when one fails. */
  private readonly failure = new AbortController();
  private commit = '';
  private files = new Map<string, HubFile>();

  constructor(
    private readonly model: HubModel,
    private readonly options: ModelLoadOptions,
    private readonly canCompile: CompileCheck,
    private readonly lock: DownloadLock,
  ) {
    this.folder = new HubFolder(hubCaches(options).own, model);
    this.api = new HubApi(model, {
      endpoint: options.hubEndpoint,
      token: options.hubToken,
      signal: AbortSignal.any([lock.signal, this.failure.signal]),
      onNotice: options.onNotice,
    });
  }

  async run(): Promise<string> {
    const { commit, files } = await this.api.describe();
    this.commit = commit;
    this.files = files;
    const { id } = this.model;
    const missing = missingFile((file) => files.has(file));
    if (missing !== undefined) throw new ModelNotFoundError(`The hub model "${id}" has no ${missing}.`);
    await this.fetch(smallFiles.filter((file) => files.has(file)));
    const snapshot = this.folder.snapshot(commit);
    await this.fetch((await listModuleFiles(id, snapshot)).filter((file) => files.has(file)));
    const weights = await this.chooseWeights();
    this.totalBytes = this.sizeOf([...this.fetched, ...weights]);
    await this.fetch(weights);
    await this.folder.pin(commit);
    return this.folder.snapshot(commit);
  }

  /** Returns the files of the checkpoint if the compiler supports it, otherwise of the exported graph. */
  private async chooseWeights(): Promise<string[]> {
    const { id } = this.model;
    const snapshot = this.folder.snapshot(this.commit);
    if (this.options.engine !== 'exporter' && (await this.canCompile(snapshot))) {
      if (this.files.has(checkpointFile)) return [checkpointFile];
      if (this.files.has(indexFile)) {
        await this.fetch([indexFile]);
        return listShards(id, snapshot);
      }
    }
    const graph = findGraph(new Set(this.files.keys()), this.options.weightTypes);
    if (graph !== undefined) return graph;
    throw new ModelNotFoundError(
      `The hub model "${id}" has neither safetensors that can be compiled nor an ONNX graph.`,
    );
  }

  /** Fetches files in parallel, then links them by name. Throws ModelLoadError if the disk has too little space. */
  private async fetch(names: readonly string[]): Promise<void> {
    const { id } = this.model;
    const files = names.map((name) => {
      const file = this.files.get(insideModel(id, name));
      if (file === undefined) throw new ModelLoadError(`The hub model "${id}" has no ${name}.`);
      return file;
    });
    // Files with the same content share one blob.
    const waiting = [...new Map(files.map((file) => [file.tag, file])).values()];
    await this.checkRoom(waiting);
    const work = async () => {
      try {
        for (let file = waiting.shift(); file !== undefined; file = waiting.shift())
          await this.fetchOne(file);
      } catch (error) {
        this.failure.abort(error);
      }
    };
    await Promise.all(Array.from({ length: parallelFiles }, work));
    // Throws the first error: the other downloads were aborted because of it.
    this.failure.signal.throwIfAborted();
    for (const { name, tag } of files) await this.folder.link(this.commit, name, tag);
    this.fetched.push(...names);
  }

  private async fetchOne(file: HubFile): Promise<void> {
    const { id } = this.model;
    await fetchBlob({ api: this.api, commit: this.commit, id }, this.folder, file, (bytes) => {
      this.loaded.set(file.tag, bytes);
      this.report();
    });
  }

  private report(): void {
    const loadedBytes = [...this.loaded.values()].reduce((sum, bytes) => sum + bytes, 0);
    const state = {
      model: this.model.id,
      loadedBytes,
      ...(this.totalBytes && { totalBytes: this.totalBytes }),
    };
    this.lock.update(state);
    this.options.onProgress?.(state);
  }

  private sizeOf(names: readonly string[]): number {
    const sizes = names
      .flatMap((name) => this.files.get(name) ?? [])
      .map(({ tag, bytes }) => [tag, bytes] as const);
    return [...new Map(sizes).values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  private async checkRoom(files: readonly HubFile[]): Promise<void> {
    const atHand = await Promise.all(files.map((file) => bytesAtHand(this.folder, file)));
    for (const [index, { tag }] of files.entries()) this.loaded.set(tag, atHand[index] ?? 0);
    const all = files.reduce((sum, { bytes }) => sum + bytes, 0);
    const needed = all - atHand.reduce((sum, bytes) => sum + bytes, 0);
    await mkdir(this.folder.path, { recursive: true });
    const { bavail, bsize } = await statfs(this.folder.path);
    if (needed + reserveBytes <= bavail * bsize) return;
    throw new ModelLoadError(
      `The model "${this.model.id}" needs ${megabytes(needed)} more in ${this.folder.cache}, where ${megabytes(bavail * bsize)} are free. Free some, or set MEGANEST_DATA_DIR or HF_HOME to another disk.`,
    );
  }
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}
