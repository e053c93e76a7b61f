import type { FailedDocument, IngestedDocument, IngestJob, IngestProgress } from '#platform/contracts';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { openAsBlob } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** Outcome of the files of a request. */
export interface IngestOutcome {
  documents: IngestedDocument[];
  failed: FailedDocument[];
}

interface ErrorBody {
  error?: { message?: string };
}

const pageSize = 500;

/** Client of the gateway or of the dataprep service at a URL. */
export class IngestClient {
  constructor(
    private readonly url: string,
    private readonly collection: string | undefined,
    private readonly key: string | undefined,
  ) {}

  /** Names of the stored documents. Errors: the server does not answer or refuses the request. */
  async names(): Promise<Set<string>> {
    const names = new Set<string>();
    for (let offset = 0; ; offset += pageSize) {
      const body = JSON.stringify({ collection: this.collection, offset, limit: pageSize });
      const response = await this.#post('/v1/dataprep/get', body, { 'content-type': 'application/json' });
      const page = (await response.json()) as { name: string }[];
      for (const { name } of page) names.add(name);
      if (page.length < pageSize) return names;
    }
  }

  /**
   * Sends files and reports the progress. If the server goes on in the background, follows the job to its end. Errors: the
   * reason if the server stored none of the files.
   */
  async ingest(
    files: readonly SentFile[],
    onProgress: (progress: IngestProgress) => void = () => undefined,
  ): Promise<IngestOutcome> {
    const form = new FormData();
    if (this.collection !== undefined) form.append('collection', this.collection);
    for (const { path, name } of files) form.append('files', await openAsBlob(path), name);
    const response = await this.#post('/v1/dataprep/ingest', form, { accept: 'text/event-stream' });
    for await (const { event, data } of eventsOf(response)) {
      if (event === 'progress') onProgress(JSON.parse(data) as IngestProgress);
      if (event === 'error') throw errorOf(data);
      if (event === 'done') return outcomeOf(data);
      if (event === 'job') return this.#follow(JSON.parse(data) as IngestJob, onProgress);
    }
    throw new Error('the server ended without a result');
  }

  /** Watches a job to its end. A request for its states may end before the job. */
  async #follow(job: IngestJob, onProgress: (progress: IngestProgress) => void): Promise<IngestOutcome> {
    let latest = job;
    while (latest.finishedAt === null) {
      const response = await this.#send(`/v1/dataprep/jobs/${job.id}`, {
        headers: { accept: 'text/event-stream' },
      });
      for await (const { event, data } of eventsOf(response)) {
        if (event === 'error') throw errorOf(data);
        latest = JSON.parse(data) as IngestJob;
        if (latest.progress && latest.finishedAt === null) onProgress(latest.progress);
      }
    }
    if (latest.state === 'succeeded') return outcomeOf(JSON.stringify(latest.progress ?? {}));
    throw new Error(latest.error?.message ?? `the job was ${latest.state}`);
  }

  #post(path: string, body: FormData | string, headers: Record<string, string>): Promise<Response> {
    return this.#send(path, { method: 'POST', body, headers });
  }

  async #send(path: string, { headers: given, ...init }: OutgoingRequest): Promise<Response> {
    const headers = this.key === undefined ? given : { ...given, authorization: `Bearer ${this.key}` };
    const response = await fetch(new URL(path, this.url), { ...init, headers }).catch((error: Error) => {
      const reason = (error.cause as Error | undefined)?.message ?? error.message;
      throw new Error(
        `${this.url} does not answer (${reason}). Is MegaNest running? Name another address with --url.`,
        {
          cause: error,
        },
      );
    });
    if (response.ok) return response;
    const text = await response.text();
    throw new Error(messageOf(text) ?? `${path} answered ${response.status}`);
  }
}

type OutgoingRequest = Pick<RequestInit, 'method' | 'body'> & { headers: Record<string, string> };

function eventsOf(response: Response) {
  return response.body!.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
}

function errorOf(data: string): Error {
  return new Error(messageOf(data) ?? data);
}

function outcomeOf(data: string): IngestOutcome {
  const { documents = [], failed = [] } = JSON.parse(data) as Partial<IngestOutcome>;
  return { documents, failed };
}

function messageOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as ErrorBody).error?.message;
  } catch {
    return undefined;
  }
}

/** A file to send. */
export interface SentFile {
  /** Path on this machine. */
  path: string;
  /** The name of its document. */
  name: string;
}

/** A file of a folder. Its name is its path within the folder, with forward slashes. */
export interface FoundFile extends SentFile {
  bytes: number;
  /** Changes when the file does. */
  version: string;
}

/** Folders without documents. Hidden folders are left out too. */
const skipped = new Set(['node_modules', '__pycache__']);

/** Finds every file below a folder, or a single file, in the order of names. Does not follow symbolic links. */
export async function findFiles(root: string): Promise<FoundFile[]> {
  const facts = await stat(root);
  if (facts.isFile()) return [describe(root, root.split(/[\\/]/).at(-1)!, facts)];
  const found: FoundFile[] = [];
  for await (const path of walk(root)) {
    found.push(describe(path, relative(root, path).split(sep).join('/'), await stat(path)));
  }
  return found.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

async function* walk(folder: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.name.startsWith('.') || skipped.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path);
    else if (entry.isFile()) yield path;
  }
}

function describe(
  path: string,
  name: string,
  { size, mtimeMs }: { size: number; mtimeMs: number },
): FoundFile {
  return { path, name, bytes: size, version: `${size}-${Math.round(mtimeMs)}` };
}
