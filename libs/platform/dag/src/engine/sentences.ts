import { splitSentences as sentencesOf } from '#platform/foundation';

/** A chunk of streamed text; `choice` is the index of the completion, other fields are passed along. */
export interface TextChunk {
  text: string;
  choice?: number;
}

/** A sentence can end only at one of these characters. */
const sentenceEnd = /[.!?…。！？؟।\n]/u;

/**
 * Regroups streamed text into whole sentences, per choice, each when the next one begins; the rest comes at the
 * end. A chunk without text (usage, finish reason) follows the text before it. A sentence has the fields of its
 * last chunk, and the joined lists (`logprobs`, `citations`) of its chunks.
 */
export async function* splitSentences<Chunk extends TextChunk>(
  chunks: AsyncIterable<Chunk>,
): AsyncGenerator<Chunk, void, undefined> {
  const open = new Map<number, OpenSentence<Chunk>>();
  for await (const chunk of chunks) {
    const choice = chunk.choice ?? 0;
    const sentence = open.get(choice) ?? new OpenSentence<Chunk>();
    open.set(choice, sentence);
    if (chunk.text === '') yield* sentence.flush();
    if (chunk.text === '') yield chunk;
    else yield* sentence.add(chunk);
  }
  for (const sentence of open.values()) yield* sentence.flush();
}

/** Incomplete text of one choice. */
class OpenSentence<Chunk extends TextChunk> {
  private text = '';
  private chunks: Chunk[] = [];

  /**
   * Adds a chunk; returns the sentences that it completes, or all of them if it is the last chunk of its choice.
   */
  add(chunk: Chunk): Chunk[] {
    this.text += chunk.text;
    this.chunks.push(chunk);
    if (isLast(chunk)) return this.flush();
    if (!sentenceEnd.test(this.text)) return [];
    const segments = sentencesOf(this.text);
    this.text = segments.pop() ?? '';
    return this.emit(segments, this.text === '' ? [] : [chunk]);
  }

  flush(): Chunk[] {
    const rest = this.text === '' ? [] : [this.text];
    this.text = '';
    return this.emit(rest, []);
  }

  private emit(sentences: string[], carriedOver: Chunk[]): Chunk[] {
    const last = this.chunks.at(-1);
    if (sentences.length === 0 || !last) return [];
    const joined = joinFields(this.chunks, last);
    this.chunks = carriedOver.map((chunk) => withoutLists(chunk));
    return sentences.map((text, index) => ({ ...(index === 0 ? joined : withoutLists(last)), text }));
  }
}

function isLast(chunk: TextChunk): boolean {
  return 'finishReason' in chunk && chunk.finishReason !== undefined;
}

/** Lists of a chunk that a sentence of several chunks has joined. */
const listFields = ['logprobs', 'citations'] as const;

function joinFields<Chunk extends TextChunk>(chunks: Chunk[], last: Chunk): Chunk {
  const joined = listFields.flatMap((field) => {
    const list = chunks.flatMap((chunk) => listOf(chunk, field));
    return list.length > 0 ? [[field, list]] : [];
  });
  return { ...last, ...Object.fromEntries(joined) };
}

function listOf(chunk: TextChunk, field: (typeof listFields)[number]): unknown[] {
  const list = (chunk as Partial<Record<typeof field, unknown>>)[field];
  return Array.isArray(list) ? list : [];
}

const withoutAny = { logprobs: undefined, citations: undefined } satisfies Record<
  (typeof listFields)[number],
  undefined
>;

function withoutLists<Chunk extends TextChunk>(chunk: Chunk): Chunk {
  return listFields.some((field) => field in chunk) ? { ...chunk, ...withoutAny } : chunk;
}
