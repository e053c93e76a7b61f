import type { IngestJob, IngestProgress } from '#platform/contracts';

/** Whether an ingest has become a job, which goes on without the request. */
export function isJob(event: IngestProgress | IngestJob): event is IngestJob {
  return 'state' in event;
}

/** Characters of the bar. */
const width = 20;

/**
 * Yields progress as lines for a terminal, e.g. of curl: a bar while chunks are embedded, the outcome of each document.
 */
export async function* progressLines(
  progress: AsyncIterable<IngestProgress | IngestJob>,
): AsyncGenerator<string> {
  let last = '';
  for await (const event of progress) {
    if (isJob(event)) {
      yield `${'job'.padEnd(11)}goes on in the background: GET /v1/dataprep/jobs/${event.id}\n`;
      return;
    }
    const line = event.documents ? summaryOf(event) : lineOf(event);
    // Several events of a stage may give the same line.
    if (line !== last) yield line;
    last = line;
  }
}

function lineOf({ stage, filename, completed, total }: IngestProgress): string {
  const name = stage.padEnd(11);
  if (stage === 'reading') return `${name}${filename} (${completed + 1} of ${total})\n`;
  if (stage !== 'embedding') return `${name}${filename}\n`;
  const share = total === 0 ? 1 : completed / total;
  const bar = '#'.repeat(Math.floor(share * width)).padEnd(width, '.');
  return `${name}[${bar}] ${Math.floor(share * 100)} % of ${filename}\n`;
}

function summaryOf({ documents = [], failed = [], total }: IngestProgress): string {
  const lines = [
    ...documents.map(({ outcome, filename, chunks }) => `${outcome.padEnd(11)}${filename}, ${chunks} chunks`),
    ...failed.map(({ filename, error }) => `${'failed'.padEnd(11)}${filename}: ${error.message}`),
    `${'done'.padEnd(11)}${documents.length} of ${total} documents`,
  ];
  return `${lines.join('\n')}\n`;
}
