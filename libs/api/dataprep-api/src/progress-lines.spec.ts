import type { IngestProgress } from '#platform/contracts';
import { expect, it } from 'vitest';
import { progressLines } from './progress-lines.js';

async function* events(): AsyncGenerator<IngestProgress> {
  yield { stage: 'reading', filename: 'a.txt', completed: 0, total: 2 };
  yield { stage: 'chunking', filename: 'a.txt', completed: 4, total: 4 };
  yield { stage: 'embedding', filename: 'a.txt', completed: 1, total: 4 };
  yield { stage: 'embedding', filename: 'a.txt', completed: 1, total: 4 };
  yield { stage: 'embedding', filename: 'a.txt', completed: 4, total: 4 };
  const documents = [{ documentId: '1', filename: 'a.txt', chunks: 4, outcome: 'added' as const }];
  const error = { code: 'unsupported_file', message: 'It is empty.', param: 'files[1]' };
  const failed = [{ filename: 'b.txt', error }];
  yield { stage: 'done', filename: 'b.txt', completed: 1, total: 2, documents, failed };
}

it('writes a line for each step, and the outcome of each document', async () => {
  const lines: string[] = [];
  for await (const line of progressLines(events())) lines.push(line);
  expect(lines.join('')).toBe(
    [
      'reading    a.txt (1 of 2)',
      'chunking   a.txt',
      'embedding  [#####...............] 25 % of a.txt',
      'embedding  [####################] 100 % of a.txt',
      'added      a.txt, 4 chunks',
      'failed     b.txt: It is empty.',
      'done       1 of 2 documents',
      '',
    ].join('\n'),
  );
});
