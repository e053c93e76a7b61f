import type { FailedDocument, IngestedDocument } from '#platform/contracts';

export interface Answer<Body = Record<string, unknown>> {
  status: number;
  body: Body;
}

export interface IngestBody {
  status: number;
  message: string;
  documents: IngestedDocument[];
  failed?: FailedDocument[];
  error: { code: string; message: string; param: string | null };
}

export type Upload = [filename: string, content: string | Uint8Array];

/** A multipart form as curl sends it. */
export function formOf(files: Upload[], fields: Record<string, string> = {}): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const [filename, content] of files) {
    form.append(
      'files',
      new Blob([typeof content === 'string' ? content : new Uint8Array(content)]),
      filename,
    );
  }
  return form;
}

/** Talks to the service as its users do. */
export class DataprepClient {
  constructor(readonly url: string) {}

  ingest(files: Upload[], fields: Record<string, string> = {}): Promise<Answer<IngestBody>> {
    return this.send('/v1/dataprep/ingest', { body: formOf(files, fields) });
  }

  post<Body = Record<string, unknown>>(path: string, body: unknown): Promise<Answer<Body>> {
    const headers = { 'content-type': 'application/json' };
    return this.send(path, { headers, body: JSON.stringify(body) });
  }

  async names(collection?: string): Promise<string[]> {
    const { body } = await this.post<{ name: string }[]>('/v1/dataprep/get', { collection });
    return body.map(({ name }) => name).toSorted();
  }

  async send<Body>(path: string, init: RequestInit): Promise<Answer<Body>> {
    const response = await fetch(this.url + path, { method: 'POST', ...init });
    return { status: response.status, body: (await response.json()) as Body };
  }
}
