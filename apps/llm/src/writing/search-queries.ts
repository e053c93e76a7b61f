import type {
  ChatMessage,
  GenerationChunk,
  ReplyOf,
  TokenUsage,
  writeSearchQueries,
} from '#platform/contracts';
import { countWords, firstWords } from '#platform/foundation';
import { withoutMarkers } from '../grounding/earlier-answers.js';
import type { GenerateRequest } from '../tools/tool-format.js';
import { readQueries } from './read-queries.js';

/** Limits of the prompt: turns before the last message, and words and characters of each of them. */
const maxTurns = 6;
const maxTurnWords = 80;
const maxTurnCharacters = 800;
/** Words at the beginning and at the end of the last message, for a long one. */
const maxMessageWords = { first: 220, last: 120 };
const maxMessageCharacters = 4_000;
/** Parameters for a local model; the tokens are enough for three queries in any language. */
export const queryLimits = { temperature: 0, max_tokens: 160 };
/** Characters after which an answer is not a list of queries. */
const maxAnswerCharacters = 2_000;

const instruction = `You write search queries for a search in documents. The search finds the passages that answer the last message of the conversation below. Do not answer the message.

- Write one to three queries, the most important one first.
- The first query is the whole question, so that it can be understood without the conversation: put names in the place of words such as "it", "they", "there" or "the second one", and dates in the place of "today" or "last month". Keep names, numbers and error texts as they are.
- Add a query for each further question of the message, or one with other words that documents may use: a synonym, the long form of an abbreviation.
- {languages}
- Write an empty list, [], if nothing is to be searched for: a greeting, thanks, or a request to change only the form of the last answer.

Answer with a JSON list of strings alone, such as ["When was Dune written?", "publication date of Dune"].`;

/** What the queries are written from. */
export interface QueryRequest {
  readonly messages: readonly ChatMessage[];
  /** Languages of the documents, where known. */
  readonly languages?: readonly string[] | undefined;
  readonly today: Date;
}

/**
 * Asks a language model for the search queries of a conversation's last message. A conversation without a message of
 * the user has none.
 */
export async function queriesWith(
  { messages, languages, today }: QueryRequest,
  ask: (request: GenerateRequest) => AsyncIterable<GenerationChunk>,
): Promise<ReplyOf<typeof writeSearchQueries>> {
  const conversation = clip(messages);
  if (!conversation) return { queries: [] };
  const { history, message } = conversation;
  const content = [
    instruction.replace('{languages}', ruleOfLanguages(languages)),
    `Today is ${dayOf(today)}.`,
    ...(history === '' ? [] : [`### Conversation:\n${history}`]),
    `### Last message:\n${message}`,
  ].join('\n\n');
  const answer = await collect(ask({ messages: [{ role: 'user', content }] }));
  const read = readQueries(answer.text, answer.isCut);
  return { ...read, ...(answer.usage && { usage: answer.usage }) };
}

function ruleOfLanguages(languages: readonly string[] = []): string {
  if (languages.length === 0)
    return 'If the message is not in English, add a query in English: the documents may be in English.';
  return `The documents are in ${languages.join(', ')}. If the message is in another language, add a query in the language of the documents.`;
}

/** A day with its weekday, which relative dates need: "Thursday, 2026-11-26". */
function dayOf(date: Date): string {
  const weekday = new Intl.DateTimeFormat('en', { weekday: 'long' }).format(date);
  return `${weekday}, ${new Intl.DateTimeFormat('sv-SE').format(date)}`;
}

/** The last message of the user and the turns before it, cut to the limits. */
function clip(messages: readonly ChatMessage[]): { history: string; message: string } | undefined {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const message = cutMessage(messages[last]?.content.trim() ?? '');
  if (message === '') return undefined;
  const turns = messages
    .slice(0, last)
    .filter(({ role, content }) => (role === 'user' || role === 'assistant') && content.trim() !== '');
  const lines = turns
    .slice(-maxTurns)
    .map(withoutMarkers)
    .map(({ role, content }) => {
      const said = content.slice(0, maxTurnCharacters).replaceAll(/\s+/g, ' ');
      return `${role === 'user' ? 'User' : 'Assistant'}: ${firstWords(said.trim(), maxTurnWords)}`;
    });
  return { history: lines.join('\n'), message };
}

/** The question of a long message is mostly at its beginning or at its end. */
function cutMessage(message: string): string {
  const { first, last } = maxMessageWords;
  if (message.length <= maxMessageCharacters && countWords(message) <= first + last) return message;
  const half = maxMessageCharacters / 2;
  const end = message.slice(-half).split(/\s+/).slice(-last).join(' ');
  return `${firstWords(message.slice(0, half), first)}\n[…]\n${end}`;
}

interface Answer {
  text: string;
  isCut: boolean;
  usage?: TokenUsage;
}

/** Collects the text of an answer, and stops where it is too long for a list of queries. */
async function collect(chunks: AsyncIterable<GenerationChunk>): Promise<Answer> {
  const answer: Answer = { text: '', isCut: false };
  for await (const { text, finishReason, usage } of chunks) {
    answer.text += text;
    answer.usage = usage;
    if (finishReason === 'length') answer.isCut = true;
    if (answer.text.length > maxAnswerCharacters) return { ...answer, isCut: true };
  }
  return answer;
}
