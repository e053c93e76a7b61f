import type { RetrievedDocument } from '#platform/contracts';

/** What a search may have found. */
export const documents: RetrievedDocument[] = [
  {
    id: 'chunk-zorvex',
    text: 'Zorvex is a message broker written in Rust. It was released in 2031 by the Quonta group.',
    score: 0.9,
    metadata: { filename: 'zorvex.md', document_id: 'doc-1' },
  },
  {
    id: 'chunk-office',
    text: 'The office in Lisbon opens at 8 am and closes at 7 pm. Visitors have to register at the desk.',
    score: 0.5,
    metadata: {},
  },
];
/** The second document answers it. */
export const question = 'When does the office in Lisbon open?';
/** The sentence that answers. */
export const quote = 'The office in Lisbon opens at 8 am and closes at 7 pm.';
/** The bundled model's answer. */
export const answer = `${quote} Visitors have to register at the desk. [1]`;
/** What it says where nothing answers. */
export const noAnswer = 'I could not find the answer in the provided documents.';
