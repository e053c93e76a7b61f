import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { IngestClient, type SentFile } from './ingest/ingest-client.js';

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
  /** Pauses before further attempts for documents that failed. */
  pausesMs?: readonly number[];
}

/** Documents by outcome. */
export interface SampleOutcome {
  ingested: string[];
  /** Documents that are not stored; the next start tries them again. */
  failed: { filename: string; reason: string }[];
}

interface SampleDocument extends SentFile {
  sha256: string;
}

/** A busy machine, or a service that restarts, needs a while. */
const usualPausesMs = [1_000, 5_000, 15_000];

type Marker = Record<string, string>;

async function listPaths(projectDirectory: string): Promise<string[]> {
  const docs = join(projectDirectory, 'docs');
  const names = existsSync(docs) ? await readdir(docs) : [];
  const pages = names.filter((name) => name.endsWith('.md')).map((name) => join(docs, name));
  return pages.toSorted();
}

async function readDocument(path: string): Promise<SampleDocument> {
  const sha256 = createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
  return { path, name: basename(path), sha256 };
}

async function readMarker(path: string): Promise<Marker> {
  return existsSync(path) ? (JSON.parse(await readFile(path, 'utf8')) as Marker) : {};
}

/** Sends documents. Returns the reasons of those that are not stored, by name. */
async function upload(
  documents: readonly SampleDocument[],
  client: IngestClient,
): Promise<Map<string, string>> {
  try {
    const { documents: stored, failed } = await client.ingest(documents);
    const reasons = new Map(failed.map(({ filename, error }) => [filename, error.message]));
    const names = new Set(stored.map(({ filename }) => filename));
    const missing = documents.filter(({ name }) => !names.has(name));
    return new Map(missing.map(({ name }) => [name, reasons.get(name) ?? 'dataprep did not name it']));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return new Map(documents.map(({ name }) => [name, reason]));
  }
}

/**
 * Ingests the sample documents that were not ingested before with the same content, failed ones several times. A
 * document that the user deleted is therefore not ingested again at the next start, but a failed one is.
 */
export async function ingestSampleDocuments(options: SampleDocumentsOptions): Promise<SampleOutcome> {
  const { markerPath, dataprepUrl, apiKey, pausesMs = usualPausesMs } = options;
  const marker = await readMarker(markerPath);
  const documents = await Promise.all((await listPaths(options.projectDirectory)).map(readDocument));
  const changed = documents.filter(({ name, sha256 }) => marker[name] !== sha256);
  const client = new IngestClient(dataprepUrl, undefined, apiKey);
  let reasons = new Map(changed.map(({ name }) => [name, '']));
  for (const pauseMs of [0, ...pausesMs]) {
    if (reasons.size === 0) break;
    await wait(pauseMs);
    const sent = changed.filter(({ name }) => reasons.has(name));
    reasons = await upload(sent, client);
    for (const { name, sha256 } of sent) if (!reasons.has(name)) marker[name] = sha256;
    if (reasons.size < sent.length) await writeFile(markerPath, JSON.stringify(marker, null, 2));
  }
  return {
    ingested: changed.map(({ name }) => name).filter((name) => !reasons.has(name)),
    failed: [...reasons].map(([filename, reason]) => ({ filename, reason })),
  };
}
