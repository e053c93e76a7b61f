import type { BatchProblem, BatchRequest } from '#platform/storage';
import { z } from 'zod';

/** Limits of OpenAI. */
export const maxBatchRequests = 50_000;
const maxProblems = 100;
/** Requests that are passed on at once. */
const groupSize = 200;

const lineSchema = z.object({
  custom_id: z.string().min(1).max(512),
  method: z.literal('POST', 'must be POST'),
  url: z.string(),
  body: z.record(z.string(), z.unknown()),
});

/** Collects the mistakes of an input file while its lines are read. */
export class BatchFileReader {
  readonly problems: BatchProblem[] = [];
  readonly #ids = new Set<string>();
  #line = 0;
  #count = 0;

  constructor(private readonly wanted: { endpoint: string; maxLineBytes: number }) {}

  /**
   * Reads the requests of a file of JSON lines, in groups. Mistakes are collected in `problems`, a hundred at most; after
   * the first one nothing is yielded any more.
   */
  async *read(content: AsyncIterable<Uint8Array>): AsyncGenerator<BatchRequest[]> {
    let group: BatchRequest[] = [];
    for await (const text of linesOf(content, this.wanted.maxLineBytes)) {
      this.#line += 1;
      if (this.problems.length >= maxProblems) return;
      if (text.trim() === '') continue;
      const request = this.#parse(text);
      if (request) group.push(request);
      if (this.problems.length > 0) group = [];
      if (group.length < groupSize) continue;
      yield group;
      group = [];
    }
    if (this.#count === 0 && this.problems.length === 0)
      this.#add('empty_file', 'The input file has no requests.', null);
    if (group.length > 0 && this.problems.length === 0) yield group;
  }

  #parse(text: string): BatchRequest | undefined {
    if (Buffer.byteLength(text) > this.wanted.maxLineBytes)
      return this.#add('request_too_large', `A request may have ${this.wanted.maxLineBytes} bytes.`, null);
    const value = jsonOf(text);
    if (value === undefined) return this.#add('invalid_json_line', 'This line is not valid JSON.', null);
    const { data, error } = lineSchema.safeParse(value);
    if (error) {
      const { path, message } = error.issues[0]!;
      return this.#add('invalid_request', `${path.join('.')}: ${message}`, path.join('.') || null);
    }
    const { custom_id: customId, url, body } = data;
    const { endpoint } = this.wanted;
    if (url !== endpoint)
      return this.#add(
        'mismatched_url',
        `The url of a request must be the batch's endpoint, ${endpoint}.`,
        'url',
      );
    if (this.#ids.has(customId))
      return this.#add('duplicate_custom_id', `The custom_id ${customId} is there already.`, 'custom_id');
    const refusal = refusedField(body);
    if (refusal !== undefined)
      return this.#add('invalid_request', `${refusal} is not possible in a batch.`, `body.${refusal}`);
    if (this.#count >= maxBatchRequests)
      return this.#add('too_many_requests', `A batch may have ${maxBatchRequests} requests.`, null);
    this.#ids.add(customId);
    this.#count += 1;
    return { line: this.#count - 1, customId, body };
  }

  #add(code: string, message: string, param: string | null): undefined {
    if (this.problems.length < maxProblems) this.problems.push({ code, message, line: this.#line, param });
  }
}

/** A field with which a request has no answer that a file can keep: a stream, work in the background. */
export function refusedField(body: Readonly<Record<string, unknown>>): string | undefined {
  return ['stream', 'background'].find((field) => body[field] === true);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The lines of a file. A line that is too long is cut where it begins to be so, and ends the file. */
async function* linesOf(content: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let length = 0;
  for await (const piece of content) {
    const [first = '', ...others] = decoder.decode(piece, { stream: true }).split('\n');
    pieces.push(first);
    length += first.length;
    for (const other of others) {
      yield pieces.join('');
      pieces = [other];
      length = other.length;
    }
    if (length > maxBytes) break;
  }
  const last = pieces.join('');
  if (last !== '') yield last;
}
