import type { IngestJob } from '#contracts';
import { ApiError, apiUrl, authorization, call, errorOf, messageOf } from '../api/connection';
import { queryClient, readJob } from '../api/queries';
import { Stored } from '../stored';

/** A file or a link on its way into the documents. */
export interface Upload {
  id: string;
  name: string;
  collection: string;
  state: 'waiting' | 'sending' | 'working' | 'done' | 'failed' | 'cancelled';
  /** Share of the current step that is done, from 0 to 1. */
  share: number;
  stage?: string;
  jobId?: string;
  error?: string;
}

/** Uploads of this browser; those that have a job go on after a reload. */
export const uploads = new Stored<Upload[]>('meganest-uploads', []);

/** Files that are sent at a time. */
const mostAtOnce = 3;
/** Milliseconds between two looks at a job. */
const pollMs = 400;
/** Milliseconds until a gateway that is away is asked again. */
const awayMs = 2_000;
/** Milliseconds that leaving the page takes at most. */
const leavingMs = 5_000;

const waiting: { upload: Upload; form: FormData }[] = [];
let sending = 0;

/** The page is about to be left; a link that only downloads something looks the same for a while. */
let leaving = false;
window.addEventListener('beforeunload', () => {
  leaving = true;
  setTimeout(() => (leaving = false), leavingMs);
});

/** Sends files, a few at a time, each as a job of its own. */
export function uploadFiles(files: readonly File[], collection: string): void {
  for (const file of files) add(file.name, collection, (form) => form.append('files', file, file.name));
}

/** Has the gateway fetch a page or a file of the web. */
export function uploadLink(link: string, collection: string): void {
  add(link, collection, (form) => form.append('link_list', JSON.stringify([link])));
}

/** Takes an upload off the list; one that still runs is cancelled. */
export async function removeUpload({ id, jobId, state }: Upload): Promise<void> {
  if (state === 'working' && jobId) await call(`/dataprep/jobs/${jobId}`, undefined, { method: 'DELETE' });
  uploads.update((list) => list.filter((upload) => upload.id !== id));
}

/** Takes up the jobs of uploads that were on their way when the page was left. */
export function resumeUploads(): void {
  for (const upload of uploads.get()) {
    if (upload.state === 'working' && upload.jobId) void follow(upload.id, upload.jobId);
    // What was not sent is gone with the page that had it.
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
  if (sending >= mostAtOnce) return;
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
    // Leaving the page ends its requests too; the page that comes next says what became of the file.
    if (!leaving) change(id, { state: 'failed', error: messageOf(error) });
  }
}

/** A request whose own progress shows, which `fetch` does not tell of. */
function post(form: FormData, onShare: (share: number) => void): Promise<IngestJob> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', `${apiUrl}/dataprep/ingest?async=true`);
    for (const [name, value] of Object.entries(authorization())) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      onShare(total > 0 ? loaded / total : 0),
    );
    request.addEventListener('error', () => reject(new Error('network')));
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
    const { stage, completed = 0, total = 0 } = progress ?? {};
    change(id, {
      state: end ?? 'working',
      stage,
      share: total > 0 ? completed / total : 0,
      ...(error && { error: error.message }),
    });
    if (end) break;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  await queryClient.invalidateQueries({ queryKey: ['documents'] });
  await queryClient.invalidateQueries({ queryKey: ['collections'] });
}

/** What the gateway says against a request; undefined where it is away, which ends by itself, as a reload of the page does. */
function refusal(failure: unknown): ApiError | undefined {
  return failure instanceof ApiError && failure.status < 500 ? failure : undefined;
}

function change(id: string, changes: Partial<Upload>): void {
  uploads.update((list) => list.map((upload) => (upload.id === id ? { ...upload, ...changes } : upload)));
}
