import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { IngestJob } from '#platform/contracts';
import type { DataprepJobs } from './dataprep.js';

/** Time after which an ingest answers with its job, if the request does not name one. */
const defaultWaitMs = 10_000;
const pollEveryMs = 200;

/**
 * Milliseconds that an answer may take before a job replaces it: `respond-async` of the `Prefer` header, with `wait` in
 * seconds (RFC 7240). Undefined without that preference.
 */
export function waitOf(prefer: string | string[] | undefined): number | undefined {
  const preferences = [prefer ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((preference) => preference.trim().toLowerCase());
  if (!preferences.includes('respond-async')) return undefined;
  const seconds = /^wait\s*=\s*"?(\d+)"?$/.exec(
    preferences.find((name) => name.startsWith('wait')) ?? '',
  )?.[1];
  return seconds === undefined ? defaultWaitMs : Number(seconds) * 1_000;
}

/**
 * Reads a job until it has ended, for `waitMs` at most; yields it as given and after each change. The job goes on without
 * its reader.
 */
export async function* watchJob(
  jobs: Pick<DataprepJobs, 'find'>,
  job: IngestJob,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal },
): AsyncGenerator<IngestJob, void, void> {
  const end = Date.now() + waitMs;
  let latest = job;
  yield latest;
  while (latest.finishedAt === null && Date.now() < end && !signal.aborted) {
    await delay(Math.min(pollEveryMs, end - Date.now()));
    const next = await jobs.find(job.id);
    if (!isDeepStrictEqual(next, latest)) yield next;
    latest = next;
  }
}

/** Waits for the end of a job, for `waitMs` at most; returns its latest state. */
export async function waitForJob(...given: Parameters<typeof watchJob>): Promise<IngestJob> {
  let [, latest] = given;
  for await (latest of watchJob(...given));
  return latest;
}
