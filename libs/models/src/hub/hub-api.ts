import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { ModelLoadError, ModelNotFoundError } from '../model/model-files.js';
import { insideModel, type HubModel } from './hub-cache.js';

/** A file of a model at one commit. */
export interface HubFile {
  readonly name: string;
  readonly bytes: number;
  /** SHA-256 of a large file, else git's SHA-1 of the blob: what the hub's clients name the blob in a cache. */
  readonly tag: string;
}

const modelSchema = z.object({
  sha: z.string().regex(/^[0-9a-f]{40}$/),
  siblings: z.array(
    z.object({
      rfilename: z.string(),
      size: z.int().nonnegative(),
      blobId: z.string().regex(/^[0-9a-f]{40}$/),
      lfs: z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/), size: z.int().nonnegative() }).nullish(),
    }),
  ),
});

export interface HubAccess {
  /** Base URL of the hub; default `https://huggingface.co`. */
  readonly endpoint?: string;
  readonly token?: string;
  /** Ends requests and pauses. */
  readonly signal?: AbortSignal;
  /** Hears in words for people why something takes longer. */
  readonly onNotice?: (text: string) => void;
}

const mostRedirects = 5;
/** Tries in a row that bring nothing. */
const mostFailures = 5;
const firstPauseMs = 500;
/** A hub that wants a longer pause is not waited for. */
const longestPauseMs = 300_000;
/** A connection that brings nothing for so long counts as broken. */
const silenceMs = 60_000;

/** A pause that the hub asks for. */
class TryLater extends Error {
  constructor(
    message: string,
    readonly pauseMs: number,
  ) {
    super(message);
  }
}

/** Requests to the hub for one model. Broken ones are repeated, with pauses that grow or that the hub names. */
export class HubApi {
  private readonly endpoint: string;

  constructor(
    private readonly model: HubModel,
    private readonly access: HubAccess,
  ) {
    this.endpoint = (access.endpoint ?? 'https://huggingface.co').replace(/\/+$/, '');
  }

  /** The commit of the wanted revision, and its files. Throws ModelLoadError. */
  async describe(): Promise<{ commit: string; files: Map<string, HubFile> }> {
    const { id, revision } = this.model;
    const url = `${this.endpoint}/api/models/${id}/revision/${encodeURIComponent(revision)}?blobs=true`;
    const { sha, siblings } = await this.repeat(url, async (signal) => {
      const response = await this.open(url, {}, signal);
      return modelSchema.parse(await response.json());
    });
    const files = siblings.map(({ rfilename, size, blobId, lfs }) => {
      const file = { name: rfilename, bytes: lfs?.size ?? size, tag: lfs?.sha256 ?? blobId };
      return [rfilename, file] as const;
    });
    return { commit: sha, files: new Map(files) };
  }

  /**
   * Hands the bytes of a file to `take`, from `start()` on, which is called again for each try: `take` says from which byte
   * the answer really begins.
   */
  async fetchFile(
    commit: string,
    file: HubFile,
    start: () => Promise<number>,
    take: (body: ReadableStream<Uint8Array>, from: number) => Promise<void>,
  ): Promise<void> {
    const url = `${this.endpoint}/${this.model.id}/resolve/${commit}/${encodeURI(insideModel(this.model.id, file.name))}`;
    await this.repeat(url, async (signal, alive) => {
      const from = await start();
      if (from === file.bytes && from > 0) return;
      const response = await this.open(url, from > 0 ? { range: `bytes=${from}-` } : {}, signal);
      if (!response.body) throw new Error('the answer is empty');
      const begins = response.status === 206 ? rangeStart(response) : 0;
      if (begins !== from && begins !== 0)
        throw new Error(`the answer begins at byte ${begins}, not ${from}`);
      await take(response.body.pipeThrough(watch(alive)), begins);
      const end = await start();
      if (end !== file.bytes) throw new Error(`${end} of ${file.bytes} bytes came`);
    });
  }

  /** Each try that makes `alive` heard begins the count of failures again. */
  private async repeat<Result>(
    url: string,
    attempt: (signal: AbortSignal, alive: () => void) => Promise<Result>,
  ): Promise<Result> {
    for (let failures = 1; ; failures += 1) {
      this.access.signal?.throwIfAborted();
      const silence = new AbortController();
      const stop = () => silence.abort(new Error(`nothing came for ${silenceMs / 1000} s`));
      const timer = setTimeout(stop, silenceMs);
      try {
        return await attempt(
          AbortSignal.any([silence.signal, ...(this.access.signal ? [this.access.signal] : [])]),
          () => {
            failures = 0;
            timer.refresh();
          },
        );
      } catch (error) {
        await this.pause(url, error, failures);
      } finally {
        clearTimeout(timer);
      }
    }
  }

  private async pause(url: string, error: unknown, failures: number): Promise<void> {
    this.access.signal?.throwIfAborted();
    if (error instanceof ModelLoadError) throw error;
    const reason = describe(error);
    const pauseMs = error instanceof TryLater ? error.pauseMs : firstPauseMs * 2 ** Math.max(failures - 1, 0);
    if (failures >= mostFailures || pauseMs > longestPauseMs) {
      const asked = pauseMs > longestPauseMs ? ` It asks for a pause of ${Math.ceil(pauseMs / 1000)} s.` : '';
      throw new ModelLoadError(`${url} cannot be reached while loading "${this.model.id}".${asked}`, {
        cause: new Error(reason),
      });
    }
    this.access.onNotice?.(`${this.model.id}: ${reason}; next try in ${(pauseMs / 1000).toFixed(1)} s`);
    await delay(pauseMs, undefined, { signal: this.access.signal });
  }

  /** Follows redirects by itself: the token is for the hub alone, not for the storage behind it. */
  private async open(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    let address = url;
    for (let redirects = 0; redirects <= mostRedirects; redirects += 1) {
      const isHub = new URL(address).origin === new URL(url).origin;
      const response = await fetch(address, {
        redirect: 'manual',
        signal,
        headers: {
          ...headers,
          // Lengths and ranges are those of the file, not of a compressed form.
          'accept-encoding': 'identity',
          ...(isHub && this.access.token && { authorization: `Bearer ${this.access.token}` }),
        },
      });
      const next = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null;
      if (next === null) return this.accept(url, response);
      await response.body?.cancel();
      address = new URL(next, address).href;
    }
    throw new Error('it redirects too often');
  }

  private async accept(url: string, response: Response): Promise<Response> {
    const { status } = response;
    if (response.ok) return response;
    await response.body?.cancel();
    if (status === 429 || status === 503)
      throw new TryLater(`the hub answers ${status}`, retryAfterMs(response.headers.get('retry-after')));
    if (status >= 500 || status === 408 || status === 416) throw new Error(`the hub answers ${status}`);
    throw new ModelNotFoundError(`The hub answered ${status} for ${url}.${this.hint(status)}`);
  }

  private hint(status: number): string {
    const { id, revision } = this.model;
    if (status === 401 || status === 403)
      return ` The model "${id}" does not exist or is gated: ${this.access.token ? 'HF_TOKEN has no access to it.' : 'set HF_TOKEN.'}`;
    return status === 404 ? ` The model "${id}" or its revision "${revision}" does not exist.` : '';
  }
}

/** Reports each piece that goes through. */
function watch(alive: () => void): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(chunk, controller) {
      alive();
      controller.enqueue(chunk);
    },
  });
}

function rangeStart(response: Response): number {
  const start = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1];
  if (start === undefined) throw new Error('a part of a file came without its place');
  return Number(start);
}

/** Seconds or a date, as milliseconds from now; a second where the header says neither. */
function retryAfterMs(header: string | null): number {
  const value = header?.trim() ?? '';
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? 1000 : Math.max(date - Date.now(), 0);
}

/** A failed fetch says nothing itself; its cause does. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
