import { listCollections } from '#contracts';
import { RpcClient } from '#messaging';
import { smallTalkTopic, type SmallTalkTopic } from '#text';
import { Inject, Injectable } from '@nestjs/common';

/** A collection of documents, with the facts that an answer may mention. */
interface Shelf {
  readonly name: string;
  readonly documents: number;
}

/** Milliseconds until the cached description is refreshed. */
const freshMs = 10_000;
/** Timeout for the answer of data preparation. */
const patienceMs = 1_000;

/** The collections of documents that the user can ask about. */
@Injectable()
export class Library {
  #known: { at: number; shelves: Promise<Shelf[] | undefined> } | undefined;

  constructor(@Inject(RpcClient) private readonly client: RpcClient) {}

  /** Undefined where data preparation does not answer. */
  describe(): Promise<Shelf[] | undefined> {
    const now = Date.now();
    if (!this.#known || now - this.#known.at > freshMs) this.#known = { at: now, shelves: this.#ask(now) };
    return this.#known.shelves;
  }

  async #ask(now: number): Promise<Shelf[] | undefined> {
    try {
      const reply = await this.client.request(listCollections, {}, { deadline: now + patienceMs });
      return reply.collections.map((name, index) => ({ name, documents: reply.documents?.[index] ?? 0 }));
    } catch {
      this.#known = undefined;
      return undefined;
    }
  }
}

const openings: Readonly<Record<SmallTalkTopic, string>> = {
  greeting: 'Hello!',
  thanks: 'You are welcome.',
  farewell: 'Goodbye!',
  'well-being': 'I am a program and always well, thank you.',
  identity: 'I am the assistant of MegaNest. I answer with sentences of your documents, and cite them.',
  ability: 'I answer questions from your documents with their own sentences, and cite them.',
  offer: 'Yes, gladly.',
  assent: 'Good. You can ask the next question.',
  complaint:
    'I am sorry. I can only show what the documents say: please ask in other words, or name the document.',
  withdrawal: 'No problem.',
};

/** Topics after which an answer does not speak of the documents. */
const alone: ReadonlySet<SmallTalkTopic> = new Set([
  'thanks',
  'farewell',
  'assent',
  'complaint',
  'withdrawal',
]);

/**
 * A short answer to a greeting, to thanks, or to a question about the assistant.
 * Undefined for any other message.
 */
export async function answerSmallTalk(
  message: string,
  describeLibrary: () => Promise<readonly Shelf[] | undefined>,
): Promise<string | undefined> {
  const topic = smallTalkTopic(message);
  if (!topic) return undefined;
  if (alone.has(topic)) return openings[topic];
  return [openings[topic], describeShelves(await describeLibrary())].filter(Boolean).join(' ');
}

/** Names no collection: an answer does not show the collections of others to the caller. */
function describeShelves(shelves: readonly Shelf[] | undefined): string {
  if (shelves?.every(({ documents }) => documents === 0))
    return 'There are no documents yet: ingest some, and ask me about them.';
  return 'Ask me about your documents.';
}
