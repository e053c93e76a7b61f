import {
  filesOf,
  maxQueryCharacters,
  MegaNestError,
  rerank,
  withoutFiles,
  type ChatMessage,
  type ModelInfo,
  type RetrievedDocument,
} from '#platform/contracts';
import { RpcClient, type CallOptions } from '#platform/messaging';
import { asksForSummary, contentWords } from '#answers/questions';
import { Inject, Injectable } from '@nestjs/common';
import { passagesOf } from './file-passages.js';

/** Passages of files for a model that quotes: it reads five, so a search can add one. */
const maxQuoted = 4;
/** Limits for the passages of files for a model that writes. */
const maxWritten = 100;
/** Half of the window of a model that writes, with two tokens a word. */
const passagesPerToken = 1 / 350;
/** Passages that the reranker reads: of larger files those that share the rarest words with the question. */
const maxRanked = 64;
/** Time limit of the reranker. The words of the question choose the passages if it is late. */
const rankingMs = 5_000;
/** Characters of files that are divided into passages, because this work blocks the gateway. */
const maxCharacters = 4_000_000;

/** The question for a file that comes without a question. */
const defaultQuestion = 'Summarize the file.';

/** Maximum number of passages of files that a model reads. */
export function maxFilePassages({ quotesDocuments, maxInputTokens }: ModelInfo): number {
  if (quotesDocuments) return maxQuoted;
  return Math.min(maxWritten, Math.max(maxQuoted, Math.floor(maxInputTokens * passagesPerToken)));
}

/** Whether a message of the user has a file. */
export function hasFiles(messages: readonly ChatMessage[]): boolean {
  return messages.some((message) => message.role === 'user' && message.files?.length);
}

/** Whether the question asks for the contents of attached files as a whole, which no search can answer. */
export function asksForFiles(messages: readonly ChatMessage[]): boolean {
  const last = messages.findLast(({ role }) => role === 'user');
  return last !== undefined && hasFiles(messages) && asksForSummary(withoutFiles(last).content);
}

/** Whether a model that reads at most `max` passages of files does not read all passages of these files. */
export function leavesOut(messages: readonly ChatMessage[], max: number): boolean {
  return hasFiles(messages) && divide(messages).length > max;
}

export interface FilePassages {
  /** The conversation without the texts of the files. */
  messages: ChatMessage[];
  /** The passages of the files that the model reads, the best first. */
  documents: RetrievedDocument[];
  /** Number of passages of all files. */
  total: number;
  /** Code of the error if the reranker failed or was too late. */
  problem?: string;
}

/** Reads the files of messages as passages, for models that answer from documents. */
@Injectable()
export class AttachedFiles {
  constructor(@Inject(RpcClient) private readonly client: Pick<RpcClient, 'request'>) {}

  /** The passages of a conversation's files that fit `question` best, at most `max`. */
  async read(
    messages: readonly ChatMessage[],
    { question, max }: { question: string; max: number },
    call: CallOptions,
  ): Promise<FilePassages> {
    const passages = divide(messages);
    const asked = withQuestion(messages.map(withoutFiles).filter(isTurn));
    const isWhole = asksForFiles(messages) || passages.length <= max;
    const chosen = isWhole
      ? { documents: beginningsOf(passages, max) }
      : await this.#best(question, passages, max, call);
    return { messages: asked, total: passages.length, ...chosen };
  }

  async #best(
    question: string,
    passages: readonly RetrievedDocument[],
    max: number,
    call: CallOptions,
  ): Promise<Pick<FilePassages, 'documents' | 'problem'>> {
    const query = question.slice(0, maxQueryCharacters);
    const candidates = byWords(query, passages).slice(0, Math.max(maxRanked, max));
    const deadline = Math.min(call.deadline ?? Infinity, Date.now() + rankingMs);
    try {
      const texts = candidates.map(({ text }) => text);
      const request = { query, texts, top_n: max, fusion: 'none' as const, truncate: true };
      const { results } = await this.client.request(rerank, request, {
        ...call,
        model: undefined,
        patience: undefined,
        deadline,
      });
      const documents = results.flatMap(({ index, score }) => {
        const passage = candidates[index];
        return passage ? [{ ...passage, score }] : [];
      });
      return { documents };
    } catch (error) {
      // The words of the question still find passages without the reranker.
      if (call.signal?.aborted || !(error instanceof MegaNestError)) throw error;
      return { documents: candidates.slice(0, max), problem: error.code };
    }
  }
}

/** Divides the files of a conversation into passages. A file that is attached again counts once. */
function divide(messages: readonly ChatMessage[]): RetrievedDocument[] {
  const passages = new Map<string, RetrievedDocument>();
  let room = maxCharacters;
  for (const file of messages.flatMap(filesOf)) {
    for (const passage of passagesOf({ ...file, text: file.text.slice(0, room) }))
      passages.set(passage.id, passage);
    room = Math.max(0, room - file.text.length);
  }
  return [...passages.values()];
}

/** A turn of the user without a word or an image only had files. */
function isTurn({ role, content, images }: ChatMessage, index: number, all: readonly ChatMessage[]): boolean {
  const isLast = index === all.findLastIndex((message) => message.role === 'user');
  return isLast || role !== 'user' || content.trim() !== '' || images !== undefined;
}

/** The conversation with a question for the files, where the last turn of the user has none. */
function withQuestion(messages: readonly ChatMessage[]): ChatMessage[] {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  return messages.map((message, index) =>
    index === last && message.content.trim() === '' ? { ...message, content: defaultQuestion } : message,
  );
}

const place = ({ metadata }: RetrievedDocument) => Number(metadata['chunk_index']);

/** The first passages of each file, as many of each as possible, in the order of the files. */
function beginningsOf(passages: readonly RetrievedDocument[], max: number): RetrievedDocument[] {
  const kept = new Set(passages.toSorted((one, other) => place(one) - place(other)).slice(0, max));
  return passages.filter((passage) => kept.has(passage));
}

/** The passages by the words that they share with the question; a word of few passages counts more. */
function byWords(question: string, passages: readonly RetrievedDocument[]): RetrievedDocument[] {
  const words = [...new Set(contentWords(question).map((word) => word.toLowerCase()))];
  const texts = passages.map(({ text }) => text.toLowerCase());
  const weights = words.map((word) => 1 / (1 + texts.filter((text) => text.includes(word)).length));
  const scores = texts.map((text) =>
    words.reduce((sum, word, index) => sum + (text.includes(word) ? (weights[index] ?? 0) : 0), 0),
  );
  return passages
    .map((passage, index) => ({ ...passage, score: scores[index] ?? 0 }))
    .toSorted((one, other) => other.score - one.score);
}
