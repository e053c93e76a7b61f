import type { ChatMessage, GenerationChunk, RetrievedDocument } from '#platform/contracts';
import { CitedPassagesRepository } from '#platform/storage';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

/** What earlier answers of a conversation cite. */
export interface CitedPassages {
  /** Ids of the documents that the last answers cite. */
  readonly documents: readonly string[];
  /** Ids of the passages that the last answer cites, in the order of their first citation. */
  readonly passages: readonly string[];
}

/** Answers before the last question whose documents are preferred. */
const maxAnswers = 3;
const maxPassages = 8;
/** Time for the database. Without its answer the search goes on. */
const waitMs = 250;
/** Characters of an answer by which it is known again. */
const maxCharacters = 20_000;

/**
 * Knows which passages the answers cite, over all gateways. Clients send back the text of an answer alone, so an answer
 * is known by its owner, its question and its text.
 */
@Injectable()
export class CitedBefore {
  readonly #logger = new Logger('search');

  constructor(
    @Inject(CitedPassagesRepository)
    private readonly repository: Pick<CitedPassagesRepository, 'keep' | 'find'>,
  ) {}

  /** The passages that the answers of a conversation cite; nothing if the database is too slow or away. */
  async find(messages: readonly ChatMessage[], owner = ''): Promise<CitedPassages> {
    const keys = keysOf(messages, owner);
    if (keys.length === 0) return { documents: [], passages: [] };
    const late = wait(waitMs, undefined, { ref: false });
    const found = await Promise.race([this.repository.find(keys).catch(() => undefined), late]);
    const answers = keys.map((key) => found?.get(key) ?? []);
    return {
      documents: [...new Set(answers.flat().flatMap(({ document }) => document ?? []))],
      passages: (answers[0] ?? []).map(({ id }) => id),
    };
  }

  /** Passes the chunks of an answer on, and keeps the passages that each choice cites when the answer ends. */
  async *watch(
    chunks: AsyncIterable<GenerationChunk>,
    asked: { messages: readonly ChatMessage[]; owner: string; documents: () => readonly RetrievedDocument[] },
  ): AsyncGenerator<GenerationChunk> {
    const texts = new Map<number, string>();
    const cited = new Map<number, Set<string>>();
    try {
      for await (const chunk of chunks) {
        const { choice, text, citations = [] } = chunk;
        texts.set(choice, (texts.get(choice) ?? '') + text);
        const ids = cited.get(choice) ?? new Set();
        for (const { documentId } of citations) ids.add(documentId);
        cited.set(choice, ids);
        yield chunk;
      }
    } finally {
      for (const [choice, text] of texts) this.#keep(text, cited.get(choice) ?? new Set(), asked);
    }
  }

  #keep(
    text: string,
    ids: ReadonlySet<string>,
    { messages, owner, documents }: Parameters<CitedBefore['watch']>[1],
  ): void {
    const byId = new Map(documents().map((document) => [document.id, document]));
    const passages = [...ids].slice(0, maxPassages).map((id) => {
      const document = byId.get(id)?.metadata['document_id'];
      return { id, ...(typeof document === 'string' && { document }) };
    });
    if (passages.length === 0) return;
    const key = keyOf(owner, lastOfUser(messages), text);
    this.repository.keep(key, passages).catch((error: unknown) => {
      this.#logger.warn({ err: error as Error }, 'could not keep the passages that an answer cites');
    });
  }
}

/** The keys of the last answers before the last question, latest first. */
function keysOf(messages: readonly ChatMessage[], owner: string): string[] {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const keys: string[] = [];
  for (let index = last - 1; index > 0 && keys.length < maxAnswers; index -= 1) {
    const { role, content } = messages[index]!;
    if (role === 'assistant' && content.trim() !== '')
      keys.push(keyOf(owner, lastOfUser(messages.slice(0, index)), content));
  }
  return keys;
}

function lastOfUser(messages: readonly ChatMessage[]): string {
  return messages.findLast(({ role }) => role === 'user')?.content ?? '';
}

/** The marker of a citation, which clients may show in another form: `[1]`, `【1†source】`. */
const marker = /[[【［]\d[^\]】］\n]{0,40}[\]】］]/g;

/** A hash of letters and digits alone, because clients change white space, and some remove markers and Markdown. */
function keyOf(owner: string, question: string, answer: string): string {
  const hash = createHash('sha256');
  for (const text of [owner, question, answer]) {
    const unmarked = text.slice(0, maxCharacters).replaceAll(marker, '');
    hash.update(`${unmarked.replaceAll(/[^\p{L}\p{Nd}]+/gu, '').toLowerCase()}\n`);
  }
  return hash.digest('base64url');
}
