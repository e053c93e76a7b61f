import { join, resolve } from 'node:path';
import { Logger } from '@nestjs/common';
import { projectRoot } from '#platform/foundation';
import { z } from 'zod';
import { EnvironmentError, type BaseEnvironment } from './environment.js';
import type { Profile } from './profile.js';

/** Precision of the weights of a local encoder or speech model; `auto`: int8 on the CPU. */
export const weightsSchema = z.enum(['auto', 'int8', 'fp32']).default('auto');

/**
 * The precision in which a service compiles its model; undefined: by the device. Errors: EnvironmentError where the
 * variable would have no effect.
 */
export function chosenWeights(
  variable: string,
  value: z.infer<typeof weightsSchema>,
  { endpoint, device }: { endpoint: string | undefined; device: BaseEnvironment['DEVICE'] },
): 'int8' | 'fp32' | undefined {
  if (value === 'auto') return undefined;
  if (endpoint !== undefined)
    throw new EnvironmentError(`${variable}: applies only to a local model; unset it or the endpoint.`);
  if (value === 'int8' && device !== 'auto' && device !== 'cpu')
    throw new EnvironmentError(`${variable}: int8 runs on the processor; DEVICE is ${device}.`);
  return value;
}

interface Download {
  readonly model: string;
  readonly loadedBytes: number;
  readonly totalBytes?: number;
}

/**
 * Options for loading a service's model; the log shows the progress of downloads. `named`: the model of a variable,
 * which may be fetched from the hub even if the profile does not allow the hub.
 */
export function modelOptions(environment: BaseEnvironment, profile: Profile, named?: string) {
  return {
    modelsDirectory: join(projectRoot, 'models'),
    cacheDirectory: resolve(environment.MEGANEST_DATA_DIR, 'models'),
    hubCache: hubCacheOf(environment),
    allowHub: profile.allowHub || named !== undefined,
    hubEndpoint: environment.HF_ENDPOINT,
    hubToken: environment.HF_TOKEN,
    device: environment.DEVICE,
    hangLimitMs: environment.HANG_LIMIT_MS,
    onProgress: noteProgress,
    onNotice: writeLine,
  };
}

const shownProgress = progressBar(writeLine);
const underWay = new Map<string, Download>();

function noteProgress(download: Download): void {
  shownProgress(download);
  if (download.loadedBytes === download.totalBytes) underWay.delete(download.model);
  else underWay.set(download.model, download);
}

/** The models that this process fetches, or waits for while another process does. */
export function currentDownloads(): Download[] {
  return [...underWay.values()].map(({ model, loadedBytes, totalBytes }) => ({
    model,
    loadedBytes,
    totalBytes,
  }));
}

function writeLine(line: string): void {
  process.stderr.write(`${line}\n`);
}

/**
 * Folder of downloads: the cache of the hub's own tools if HF_HOME or HF_HUB_CACHE is set, otherwise a folder of
 * MegaNest.
 */
export function hubCacheOf({
  HF_HOME,
  HF_HUB_CACHE,
  MEGANEST_DATA_DIR,
}: Pick<BaseEnvironment, 'HF_HOME' | 'HF_HUB_CACHE' | 'MEGANEST_DATA_DIR'>): string {
  if (HF_HUB_CACHE !== undefined) return resolve(HF_HUB_CACHE);
  return HF_HOME === undefined ? resolve(MEGANEST_DATA_DIR, 'models', 'hub') : resolve(HF_HOME, 'hub');
}

interface LoadedModel {
  readonly info: { readonly id: string; readonly backend?: string };
  readonly fallback?: string;
}

/**
 * Logs the engine of a model, because `DEVICE=auto` chooses it automatically. A model that could not be compiled runs
 * slower: the log says why.
 */
export function announceModel<Model extends LoadedModel>(model: Model): Model {
  const { id, backend } = model.info;
  if (backend) new Logger('model').log(`${id} runs on ${backend}`);
  if (model.fallback) new Logger('model').warn(model.fallback);
  return model;
}

const steps = 10;
const megabyte = 1024 * 1024;

/** Writes a line for each tenth of a model, because the output of a service is a log, not a terminal. */
export function progressBar(write: (line: string) => void): (download: Download) => void {
  const shown = new Map<string, number>();
  return ({ model, loadedBytes, totalBytes }) => {
    if (!totalBytes) return;
    const step = Math.floor((loadedBytes / totalBytes) * steps);
    if (step <= (shown.get(model) ?? 0)) return;
    shown.set(model, step);
    const bar = '#'.repeat(step).padEnd(steps, '.');
    write(`downloading ${model} [${bar}] ${step * steps} % of ${(totalBytes / megabyte).toFixed(1)} MB`);
  };
}
