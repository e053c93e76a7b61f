import type { IngestProgress } from '#contracts';

const width = 20;

/** Progress as lines for a terminal, e.g. of curl: a bar where chunks are embedded, and what became of each document. */
export async function* progressLines(progress: AsyncIterable<IngestProgress>): AsyncGenerator<string> {
  let last = '';
  for await (const event of progress) {
    const line = event.documents ? summaryOf(event) : lineOf(event);
    // Several events of a stage may make the same line.
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
