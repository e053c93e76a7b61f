import type { Document, Question } from './questions.js';

/** The answer to the last turn of a question. */
export interface Answer {
  text: string;
  citations: { quote: string; filename: string }[];
  /** The state that the product gives as a field, if it has one. */
  state?: string;
  confidence?: number;
  milliseconds: number;
  /** Steps of the mega service that were skipped, by the gateway's names. */
  degraded: string;
}

interface States {
  answer_kind?: string;
  confidence?: number;
}
interface Completion extends States {
  choices: (States & {
    message: States & {
      content: string;
      annotations?: { url_citation: { filename?: string; quote?: string } }[];
    };
  })[];
}
interface Ingested {
  failed?: unknown[];
}
type Message = { role: 'user' | 'assistant'; content: string };

const filesAtOnce = 10;
/** Attempts for a step that a busy machine skipped, since the benchmark measures complete runs. */
const maxAttempts = 4;
const headers = { 'content-type': 'application/json' };

/** Ingests documents into a collection. Errors: a document is refused more than once. */
export async function ingest(url: string, collection: string, documents: readonly Document[]): Promise<void> {
  for (let first = 0; first < documents.length; first += filesAtOnce) {
    const files = documents.slice(first, first + filesAtOnce);
    let outcome = 'not sent';
    for (let attempt = 1; attempt <= maxAttempts && outcome !== ''; attempt += 1)
      outcome = await send(url, collection, files);
    if (outcome !== '') throw new Error(`ingest of ${collection}: ${outcome}`);
  }
}

/** Returns the failure, or an empty text. */
async function send(url: string, collection: string, documents: readonly Document[]): Promise<string> {
  const form = new FormData();
  form.append('collection', collection);
  for (const { name, body } of documents) form.append('files', new Blob([body]), name);
  const answer = await fetch(`${url}/v1/dataprep/ingest`, { method: 'POST', body: form });
  if (!answer.ok) return `${answer.status} ${await answer.text()}`;
  const { failed = [] } = (await answer.json()) as Ingested;
  return failed.length === 0 ? '' : JSON.stringify(failed);
}

/** Asks the turns of a question one after the other, with the answers before in the messages. */
export async function ask(url: string, collection: string, { turns }: Question): Promise<Answer> {
  const messages: Message[] = [];
  let answer: Answer | undefined;
  for (const turn of turns) {
    messages.push({ role: 'user', content: turn });
    answer = await complete(url, collection, messages);
    messages.push({ role: 'assistant', content: answer.text });
  }
  return answer!;
}

async function complete(url: string, collection: string, messages: readonly Message[]): Promise<Answer> {
  const body = JSON.stringify({ messages, collection });
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = performance.now();
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    const completion = (await response.json()) as Completion;
    const milliseconds = performance.now() - startedAt;
    const degraded = response.headers.get('x-meganest-degraded') ?? '';
    if (degraded !== '' && attempt < maxAttempts) continue;
    const choice = completion.choices[0]!;
    const { content, annotations = [] } = choice.message;
    const states = [choice.message, choice, completion];
    return {
      text: content,
      citations: annotations.map(({ url_citation: { quote = '', filename = '' } }) => ({ quote, filename })),
      state: states.find(({ answer_kind }) => answer_kind !== undefined)?.answer_kind,
      confidence: states.find(({ confidence }) => confidence !== undefined)?.confidence,
      milliseconds,
      degraded,
    };
  }
}
