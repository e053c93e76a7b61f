import type { IngestJob } from '#platform/contracts';
import { ApiError, apiUrl, authorization, call, errorOf, messageOf } from '../api/connection';
import { queryClient, readJob } from '../api/queries';
import { text } from '../i18n/text';
import { Stored } from '../stored';

/** The upload of a file or a link. */
export interface Upload {
  id: string;
  name: string;
  collection: string;
  state: 'waiting' | 'sending' | 'working' | 'done' | 'failed' | 'cancelled';
  /** Progress of the current step, from 0 to 1. */
  share: number;
  stage?: string;
  jobId?: string;
  error?: string;
  /** What a finished upload did: it may have replaced a document of the same name. */
  outcome?: 'added' | 'replaced' | 'unchanged';
}

/** Uploads of this browser. Uploads with a job continue after a reload. */
export const uploads = new Stored<Upload[]>('meganest-uploads', []);

/** Limit for files that are sent concurrently. */
const maxConcurrent = 3;
/** Milliseconds between two polls of a job. */
const pollMs = 400;
/** Milliseconds before a retry if the gateway does not answer. */
const awayMs = 2_000;
/** Time in milliseconds in which the browser leaves the page. */
const leavingMs = 5_000;

const waiting: { upload: Upload; form: FormData }[] = [];
let sending = 0;

/** True while the browser leaves the page. A download link also sets it, so that it is reset after a while. */
let leaving = false;
window.addEventListener('beforeunload', () => {
  leaving = true;
  setTimeout(() => (leaving = false), leavingMs);
});

/** Uploads files, a few at a time, each as a separate job. */
export function uploadFiles(files: readonly File[], collection: string): void {
  for (const file of files) {
    const path = pathOf(file);
    add(path, collection, (form) => form.append('files', file, path));
  }
}

/** The path of a file in its chosen or dropped folder, so that files of one name stay apart; otherwise its name. */
export function pathOf(file: File): string {
  const { webkitRelativePath, path, name }: File & { path?: string } = file;
  const found = webkitRelativePath || path || name;
  // The library for drops writes `./name` and `/folder/name`.
  return found.replace(/^\.?\//, '');
}

/** Asks the gateway to ingest a page or a file from the web. */
export function uploadLink(link: string, collection: string): void {
  add(link, collection, (form) => form.append('link_list', JSON.stringify([link])));
}

/** Removes an upload from the list, and cancels its job if it is running. */
export async function removeUpload({ id, jobId, state }: Upload): Promise<void> {
  if (state === 'working' && jobId) await call(`/dataprep/jobs/${jobId}`, undefined, { method: 'DELETE' });
  uploads.update((list) => list.filter((upload) => upload.id !== id));
}

/** Follows the jobs of uploads that were active when the user left the page. */
export function resumeUploads(): void {
  for (const upload of uploads.get()) {
    if (upload.state === 'working' && upload.jobId) void follow(upload.id, upload.jobId);
    // Unsent files were lost with the earlier page.
    else if (upload.state === 'waiting' || upload.state === 'sending')
      change(upload.id, { state: 'failed', error: 'interrupted' });
  }
}

function add(name: string, collection: string, fill: (form: FormData) => void): void {
  const form = new FormData();
  if (collection) form.append('collection', collection);
  fill(form);
  const upload: Upload = { id: crypto.randomUUID(), name, collection, state: 'waiting', share: 0 };
  uploads.update((list) => [upload, ...list]);
  waiting.push({ upload, form });
  next();
}

function next(): void {
  if (sending >= maxConcurrent) return;
  const first = waiting.shift();
  if (!first) return;
  sending += 1;
  void send(first.upload.id, first.form).finally(() => {
    sending -= 1;
    next();
  });
  next();
}

async function send(id: string, form: FormData): Promise<void> {
  change(id, { state: 'sending' });
  try {
    const job = await post(form, (share) => change(id, { share }));
    change(id, { state: 'working', jobId: job.id, share: 0 });
    await follow(id, job.id);
  } catch (error) {
    // Leaving the page also aborts its requests. The next page then reports on the file.
    if (!leaving) change(id, { state: 'failed', error: messageOf(error) });
  }
}

/** Sends a form with XMLHttpRequest: `fetch` does not report the progress of an upload. */
function post(form: FormData, onShare: (share: number) => void): Promise<IngestJob> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', `${apiUrl}/dataprep/ingest?async=true`);
    for (const [name, value] of Object.entries(authorization())) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      onShare(total > 0 ? loaded / total : 0),
    );
    request.addEventListener('error', () => reject(new Error(text('unreachable'))));
    request.addEventListener('load', () => {
      if (request.status < 300) resolve(JSON.parse(request.responseText) as IngestJob);
      else reject(errorOf(request.status, request.responseText));
    });
    request.send(form);
  });
}

const ends: Readonly<Record<string, Upload['state']>> = {
  succeeded: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
};

async function follow(id: string, jobId: string): Promise<void> {
  for (;;) {
    const job = await readJob(jobId).catch((failure: unknown) => refusal(failure));
    if (job instanceof ApiError) {
      change(id, { state: 'failed', error: job.message });
      return;
    }
    if (!job) {
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      continue;
    }
    const { state, progress, error } = job;
    const end = ends[state];
    const { stage, documents = [], part } = progress ?? {};
    const { completed = 0, total = 0 } = part ?? progress ?? {};
    change(id, {
      state: end ?? 'working',
      stage,
      share: total > 0 ? completed / total : 0,
      ...(error && { error: error.message }),
      ...(documents[0] && { outcome: documents[0].outcome }),
    });
    if (end) break;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  await queryClient.invalidateQueries({ queryKey: ['documents'] });
  await queryClient.invalidateQueries({ queryKey: ['collections'] });
}

/** The gateway's refusal of a request; undefined for a temporary failure: no answer, a server error, a page reload. */
function refusal(failure: unknown): ApiError | undefined {
  return failure instanceof ApiError && failure.status < 500 ? failure : undefined;
}

function change(id: string, changes: Partial<Upload>): void {
  uploads.update((list) => list.map((upload) => (upload.id === id ? { ...upload, ...changes } : upload)));
}
