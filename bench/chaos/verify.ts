import { openDatabase } from '#platform/storage';
import { collection, type Ledger } from './clients.js';
import type { Answered } from './persistent-fetch.js';

/** Differences between the stored data and the answers that the clients got. */
export interface Verdict {
  /** Acknowledged, but missing or different. */
  lost: string[];
  /** Stored more than once. */
  doubled: string[];
  /** Stored in part. */
  half: string[];
}

interface DocumentRow {
  filename: string;
  counted: number;
  stored: string;
  text: string;
}

/** Compares the ledger with the documents, the background runs and their logs. */
export async function verify(ledger: Ledger, url: string, connectionString: string): Promise<Verdict> {
  const verdict: Verdict = { lost: [], doubled: [], half: [] };
  await verifyDocuments(ledger, connectionString, verdict);
  await verifyRuns(ledger, url, connectionString, verdict);
  return verdict;
}

async function readRows<Row extends object>(
  connectionString: string,
  sql: string,
  value: string,
): Promise<Row[]> {
  const database = openDatabase({ connectionString, maxConnections: 1 });
  try {
    return await database.transaction((transaction) => transaction.query<Row>(sql, [value]));
  } finally {
    await database.close();
  }
}

async function verifyDocuments(
  { documents }: Ledger,
  connectionString: string,
  verdict: Verdict,
): Promise<void> {
  const rows = await readRows<DocumentRow>(
    connectionString,
    `SELECT filename, chunk_count AS counted, count(chunks.id) AS stored,
            coalesce(string_agg(text, ' ' ORDER BY position), '') AS text
     FROM documents LEFT JOIN chunks ON document_id = documents.id
     WHERE documents.collection = $1 AND pending_since IS NULL GROUP BY documents.id`,
    collection,
  );
  for (const { name, passages, answer } of documents) {
    const found = rows.filter(({ filename }) => filename === name);
    if (isAcknowledged(answer) && found.length === 0) verdict.lost.push(name);
    if (found.length > 1) verdict.doubled.push(name);
    for (const { counted, stored, text } of found) {
      const indexes = Array.from({ length: passages }, (_unused, index) => index);
      const isWhole = indexes.every((index) => text.includes(`Passage ${index} of ${name}.`));
      if (!isWhole || counted !== Number(stored)) verdict.half.push(name);
    }
  }
}

async function verifyRuns(
  { runs }: Ledger,
  url: string,
  connectionString: string,
  verdict: Verdict,
): Promise<void> {
  const rows = await readRows<{ key: string; count: string }>(
    connectionString,
    `SELECT idempotency_key AS key, count(*) FROM responses WHERE idempotency_key LIKE $1 GROUP BY 1`,
    'chaos-%',
  );
  verdict.doubled.push(...rows.filter(({ count }) => Number(count) > 1).map(({ key }) => key));
  for (const { key, id, status, text } of runs) {
    // The client did not get an id or a final status of this run.
    if (id === undefined || status === 'unknown') continue;
    const response = await fetch(`${url}/v1/responses/${id}`);
    const found = (await response.json()) as { status?: string; output?: unknown };
    if (response.status !== 200 || found.status !== status || JSON.stringify(found.output) !== text)
      verdict.lost.push(`${key}: ${response.status} ${found.status}, was ${status}`);
    const log = await (await fetch(`${url}/v1/responses/${id}?stream=true`)).text();
    const numbers = [...log.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
    const isWhole = numbers.length > 0 && numbers.every((number, index) => number === index);
    if (!isWhole) verdict.half.push(`${key}: its log has the numbers ${numbers.join(' ')}`);
  }
}

/** Whether the client got the answer that the run is done. */
export function isAcknowledged({ status }: Answered): boolean {
  return status >= 200 && status < 300;
}
