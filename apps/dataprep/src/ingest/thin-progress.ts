import type { IngestProgress } from '#platform/contracts';

/** Limits the events of an ingest to one per interval, and the last one. Each event is a message to the caller. */
export async function* thinProgress(
  progress: AsyncIterable<IngestProgress>,
  everyMs: number,
): AsyncGenerator<IngestProgress, void, void> {
  let sentAt = performance.now();
  for await (const event of progress) {
    const now = performance.now();
    if (event.documents === undefined && now - sentAt < everyMs) continue;
    sentAt = now;
    yield event;
  }
}
