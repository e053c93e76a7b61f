import { smallTalkTopic, type SmallTalkTopic } from '#answers/questions';
import { detectLanguage } from '#platform/foundation';

/** A collection of documents, with the facts that an answer may mention. */
export interface Shelf {
  readonly name: string;
  readonly documents: number;
}

interface Phrases {
  readonly openings: Readonly<Record<SmallTalkTopic, string>>;
  /** Asks for a question, and says that there are no documents. */
  readonly ask: string;
  readonly empty: string;
}

const openings: Phrases['openings'] = {
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
  beyond: 'I can only answer from documents, with their own sentences.',
};

const english: Phrases = {
  openings,
  ask: 'Ask me about your documents.',
  empty: 'There are no documents yet: ingest some, and ask me about them.',
};

const german: Phrases = {
  openings: {
    greeting: 'Hallo!',
    thanks: 'Gern geschehen.',
    farewell: 'Auf Wiedersehen!',
    'well-being': 'Ich bin ein Programm, und es geht mir immer gut, danke.',
    identity:
      'Ich bin der Assistent von MegaNest. Ich antworte mit Sätzen Ihrer Dokumente und nenne die Stelle.',
    ability: 'Ich beantworte Fragen mit Sätzen Ihrer Dokumente und nenne die Stelle.',
    offer: 'Ja, gern.',
    assent: 'Gut. Stellen Sie gern die nächste Frage.',
    complaint:
      'Das tut mir leid. Ich kann nur zeigen, was in den Dokumenten steht: Bitte fragen Sie mit anderen Worten, oder nennen Sie das Dokument.',
    withdrawal: 'Kein Problem.',
    beyond: 'Ich kann nur aus Dokumenten antworten, mit ihren eigenen Sätzen.',
  },
  ask: 'Fragen Sie mich nach Ihren Dokumenten.',
  empty: 'Es gibt noch keine Dokumente: Laden Sie welche hoch, und fragen Sie mich danach.',
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
  const phrases = detectLanguage(message) === 'de' ? german : english;
  if (alone.has(topic)) return phrases.openings[topic];
  return `${phrases.openings[topic]} ${describeShelves(await describeLibrary(), phrases)}`;
}

/** Names no collection: an answer does not show the collections of others to the caller. */
function describeShelves(shelves: readonly Shelf[] | undefined, { ask, empty }: Phrases): string {
  return shelves?.every(({ documents }) => documents === 0) ? empty : ask;
}
