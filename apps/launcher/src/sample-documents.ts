import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

export interface SampleDocumentsOptions {
  /**
   * The project's directory. Its docs/*.md are the sample documents. README.md is left out: it contains the document of
   * its own example, so that questions would still be answered after the user deletes that document.
   */
  projectDirectory: string;
  /** File with the content hashes of the ingested documents. */
  markerPath: string;
  /** URL of the dataprep service. */
  dataprepUrl: string;
  apiKey?: string;
}

interface SampleDocument {
  filename: string;
  bytes: Buffer;
  sha256: string;
}

type Marker = Record<string, string>;

async function listPaths(projectDirectory: string): Promise<string[]> {
  const docs = join(projectDirectory, 'docs');
  const names = existsSync(docs) ? await readdir(docs) : [];
  const pages = names.filter((name) => name.endsWith('.md')).map((name) => join(docs, name));
  return pages.toSorted();
}

async function readDocument(path: string): Promise<SampleDocument> {
  const bytes = await readFile(path);
  return { filename: basename(path), bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}

async function readMarker(path: string): Promise<Marker> {
  return existsSync(path) ? (JSON.parse(await readFile(path, 'utf8')) as Marker) : {};
}

async function upload(documents: readonly SampleDocument[], options: SampleDocumentsOptions): Promise<void> {
  const form = new FormData();
  for (const { bytes, filename } of documents)
    form.append('files', new Blob([new Uint8Array(bytes)], { type: 'text/markdown' }), filename);
  const response = await fetch(`${options.dataprepUrl}/v1/dataprep/ingest`, {
    method: 'POST',
    body: form,
    headers: options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` },
    signal: AbortSignal.timeout(600_000),
  });
  const body = await response.text();
  if (!response.ok) throw new Error(`dataprep answered ${response.status}: ${body.slice(0, 500)}`);
}

/**
 * Ingests the sample documents that were not ingested before with the same content. A document that the user deleted is
 * therefore not ingested again at the next start. Returns the names of the ingested files.
 */
export async function ingestSampleDocuments(options: SampleDocumentsOptions): Promise<string[]> {
  const marker = await readMarker(options.markerPath);
  const documents = await Promise.all((await listPaths(options.projectDirectory)).map(readDocument));
  const changed = documents.filter(({ filename, sha256 }) => marker[filename] !== sha256);
  if (changed.length === 0) return [];
  await upload(changed, options);
  const ingested = Object.fromEntries(changed.map(({ filename, sha256 }) => [filename, sha256]));
  await writeFile(options.markerPath, JSON.stringify({ ...marker, ...ingested }, null, 2));
  return changed.map(({ filename }) => filename);
}
