import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { ModelLoadError, ModelNotFoundError } from '../model/model-files.js';
import { insideModel, type HubModel } from './hub-cache.js';

/** A file of a model at one commit. */
export interface HubFile {
  readonly name: string;
  readonly bytes: number;
  /** Name of the blob in the cache: SHA-256 for a large file, otherwise git's SHA-1 of the blob. */
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
  /** Aborts requests and pauses. */
  readonly signal?: AbortSignal;
  /** Called with a message for the user when something takes longer. */
  readonly onNotice?: (text: string) => void;
}

const maxRedirects = 5;
/** Maximum number of consecutive attempts without any data. */
const maxFailures = 5;
const firstPauseMs = 500;
/** Maximum pause that a hub may ask for; a longer one is an error. */
const maxPauseMs = 300_000;
/** Time without data after which a connection counts as broken. */
const silenceMs = 60_000;

/** The hub asks for a pause. */
class TryLater extends Error {
  constructor(
    message: string,
    readonly pauseMs: number,
  ) {
    super(message);
  }
}

/** Requests to the hub for one model. Retries failures with growing pauses, or the pause that the hub asks for. */
export class HubApi {
  private readonly endpoint: string;

  constructor(
    private readonly model: HubModel,
    private readonly access: HubAccess,
  ) {
    this.endpoint = (access.endpoint ?? 'https://huggingface.co').replace(/\/+$/, '');
  }

  /** Fetches the commit of the wanted revision and the list of its files. Throws ModelLoadError. */
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
   * Passes the bytes of a file to `take`, which also gets the position of the first one. Each attempt asks for the
   * bytes from `start()` on; a hub may still answer with the whole file.
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
      if (end !== file.bytes) throw new Error(`received ${end} of ${file.bytes} bytes`);
    });
  }

  /** Retries an attempt. A call of `alive` resets the count of failures. */
  private async repeat<Result>(
    url: string,
    attempt: (signal: AbortSignal, alive: () => void) => Promise<Result>,
  ): Promise<Result> {
    for (let failures = 1; ; failures += 1) {
      this.access.signal?.throwIfAborted();
      const silence = new AbortController();
      const stop = () => silence.abort(new Error(`no data for ${silenceMs / 1000} s`));
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
    if (failures >= maxFailures || pauseMs > maxPauseMs) {
      const asked =
        pauseMs > maxPauseMs ? ` The hub asks for a pause of ${Math.ceil(pauseMs / 1000)} s.` : '';
      throw new ModelLoadError(`${url} cannot be reached while loading "${this.model.id}".${asked}`, {
        cause: new Error(reason),
      });
    }
    this.access.onNotice?.(`${this.model.id}: ${reason}; next try in ${(pauseMs / 1000).toFixed(1)} s`);
    await delay(pauseMs, undefined, { signal: this.access.signal });
  }

  /** Follows redirects here rather than in fetch, so that only the hub gets the token, not its storage. */
  private async open(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    let address = url;
    for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
      const isHub = new URL(address).origin === new URL(url).origin;
      const response = await fetch(address, {
        redirect: 'manual',
        signal,
        headers: {
          ...headers,
          // Lengths and ranges must refer to the file, not to a compressed form.
          'accept-encoding': 'identity',
          ...(isHub && this.access.token && { authorization: `Bearer ${this.access.token}` }),
        },
      });
      const next = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null;
      if (next === null) return this.accept(url, response);
      await response.body?.cancel();
      address = new URL(next, address).href;
    }
    throw new Error('too many redirects');
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

/** Passes the pieces on and calls `alive` for each. */
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
  if (start === undefined) throw new Error('a partial answer has no Content-Range');
  return Number(start);
}

/** Converts seconds or a date to milliseconds from now; one second for any other header. */
function retryAfterMs(header: string | null): number {
  const value = header?.trim() ?? '';
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? 1000 : Math.max(date - Date.now(), 0);
}

/** Returns the message of the cause of a failed fetch, because the error itself has no details. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
