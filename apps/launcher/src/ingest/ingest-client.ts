import { openAsBlob } from 'node:fs';
import type { FailedDocument, IngestedDocument, IngestProgress } from '#contracts';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { FoundFile } from './find-files.js';

/** What became of the files of a request. */
export interface IngestOutcome {
  documents: IngestedDocument[];
  failed: FailedDocument[];
}

interface ErrorBody {
  error?: { message?: string };
}

const pageSize = 500;

/** Talks to the gateway, or to the dataprep service, at a URL. */
export class IngestClient {
  constructor(
    private readonly url: string,
    private readonly collection: string | undefined,
    private readonly key: string | undefined,
  ) {}

  /** Names of the documents that are stored. Errors: why they cannot be read. */
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

  /** Sends files and tells the progress. Errors: why none of them was stored. */
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
