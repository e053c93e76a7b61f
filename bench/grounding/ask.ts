/** A question, the texts of which a right answer contains one, and the documents that each contain it. */
export interface Question {
  question: string;
  answers: string[];
  documents: string[];
}

/** Result of a question. */
export interface Asked {
  given: Question;
  text: string;
  /** File names of the documents that are quoted, one for each quote. */
  cited: string[];
  milliseconds: number;
  /** Steps that were still skipped after the retries, by the gateway's names; empty if all steps ran. */
  degraded: string;
}

const filesAtOnce = 40;
/**
 * Attempts for a question whose answer was made without a step, as on a busy machine: the benchmark measures complete
 * runs.
 */
const maxAttempts = 4;
const headers = { 'content-type': 'application/json' };

/** Ingests texts into a collection. Errors: the errors of the gateway. */
export async function ingest(
  url: string,
  collection: string,
  documents: readonly { name: string; text: string }[],
): Promise<void> {
  for (let first = 0; first < documents.length; first += filesAtOnce) {
    const form = new FormData();
    form.append('collection', collection);
    for (const { name, text } of documents.slice(first, first + filesAtOnce))
      form.append('files', new Blob([text]), name);
    const answer = await fetch(`${url}/v1/dataprep/ingest`, { method: 'POST', body: form });
    if (!answer.ok) throw new Error(`ingest: ${answer.status} ${await answer.text()}`);
    await answer.text();
  }
}

interface Completion {
  choices: {
    message: {
      content: string;
      annotations?: { url_citation: { filename?: string; quote: string } }[];
    };
  }[];
}

type Answerer = (given: Question) => Promise<Pick<Asked, 'text' | 'cited'> & { degraded?: string }>;

/** Asks one question after the other, through chat completions with a collection or through another function. */
export async function askAll(
  questions: readonly Question[],
  answerer: Answerer | { url: string; collection: string },
): Promise<Asked[]> {
  const answer = typeof answerer === 'function' ? answerer : (given: Question) => chat(given, answerer);
  const asked: Asked[] = [];
  for (const given of questions) {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const startedAt = performance.now();
      const { text, cited, degraded = '' } = await answer(given);
      if (degraded !== '' && attempt < maxAttempts) continue;
      asked.push({ given, text, cited, milliseconds: performance.now() - startedAt, degraded });
      break;
    }
  }
  return asked;
}

async function chat({ question }: Question, { url, collection }: { url: string; collection: string }) {
  const body = JSON.stringify({ messages: [{ role: 'user', content: question }], collection });
  const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  const { choices } = (await answer.json()) as Completion;
  const { content, annotations = [] } = choices[0]!.message;
  const quoted = annotations.map(({ url_citation }) => url_citation).filter(({ quote }) => quote !== '');
  const degraded = answer.headers.get('x-meganest-degraded') ?? '';
  return { text: content, cited: quoted.map(({ filename = '' }) => filename), degraded };
}
