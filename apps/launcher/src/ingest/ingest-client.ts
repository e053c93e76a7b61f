import type { FailedDocument, IngestedDocument, IngestProgress } from '#contracts';
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

  /** Sends files and reports the progress. Errors: the reason if the server stored none of the files. */
  async ingest(
    files: readonly FoundFile[],
    onProgress: (progress: IngestProgress) => void,
  ): Promise<IngestOutcome> {
    const form = new FormData();
    if (this.collection !== undefined) form.append('collection', this.collection);
    for (const { path, name } of files) form.append('files', await openAsBlob(path), name);
    const response = await this.#post('/v1/dataprep/ingest', form, { accept: 'text/event-stream' });
    const events = response
      .body!.pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream());
    for await (const { event, data } of events) {
      if (event === 'progress') onProgress(JSON.parse(data) as IngestProgress);
      if (event === 'error') throw new Error((JSON.parse(data) as ErrorBody).error?.message ?? data);
      if (event === 'done') return outcomeOf(data);
    }
    throw new Error('the server ended without a result');
  }

  async #post(path: string, body: FormData | string, headers: Record<string, string>): Promise<Response> {
    const authorized = this.key === undefined ? headers : { ...headers, authorization: `Bearer ${this.key}` };
    const request = { method: 'POST', body, headers: authorized };
    const response = await fetch(new URL(path, this.url), request).catch((error: Error) => {
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

/** A file of a folder. */
export interface FoundFile {
  /** Path on this machine. */
  path: string;
  /** Path within the folder, with forward slashes: the name of its document. */
  name: string;
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
