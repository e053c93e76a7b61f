import { invalidField, isAttached, type ChatMessage, type RetrievedDocument } from '#contracts';
import type { Profile } from '#service-kit';
import { countWords, firstWords } from '#text';
import { normalizeWhitespace, sentencesOf } from './sentences.js';

export type GroundingSettings = Profile['llm']['grounding'];

export interface GroundedPrompt {
  /** The conversation with its last user turn replaced by the passages and the question. */
  readonly messages: ChatMessage[];
  readonly passages: Passage[];
  /** The text of the user's last message. */
  readonly question: string;
}

export interface GroundedRequest {
  readonly messages: readonly ChatMessage[];
  readonly documents: readonly RetrievedDocument[];
  /** Replaces the profile's template. It must contain `{question}` and may contain `{context}`. */
  readonly chat_template?: string;
}

/**
 * Writes the prompt that the profile's model expects: its system prompt, and the passages with the last or the first
 * question of the conversation, as the profile says. Errors: invalid_request for a conversation without a user turn, or
 * for a template without `{question}`.
 */
export function buildGroundedPrompt(request: GroundedRequest, settings: GroundingSettings): GroundedPrompt {
  const passages = selectPassages(request.documents, settings);
  const { chat_template, messages } = request;
  const templates = {
    full: chat_template ?? settings.userPrompt,
    followUp: chat_template === undefined ? settings.followUpPrompt : undefined,
  };
  const { question, turns } = fillQuestions(messages, templates, renderPassages(passages));
  return { messages: withSystemPrompt(turns, settings.systemPrompt), passages, question };
}

/** Fills a caller's template without documents: `{context}` is empty. Errors: as {@link buildGroundedPrompt}. */
export function fillChatTemplate(messages: readonly ChatMessage[], template: string): ChatMessage[] {
  return fillQuestions(messages, { full: template }, '').turns;
}

/** The results of a search that found nothing. */
const nothingFound =
  'The search found nothing. Use only this conversation and the results of tools; a greeting needs neither. ' +
  'Otherwise say that the documents do not hold the answer.';

/** One line per passage: `[1] text`; `[1] (attached file a.txt) text` for a passage of a file in the messages. */
export function renderPassages(passages: readonly Passage[]): string {
  if (passages.length === 0) return nothingFound;
  return passages.map(({ number, label = '', text }) => `[${number}] ${label}${text}`).join('\n');
}

interface QuestionTemplates {
  /** Template of the user turn with the passages. */
  readonly full: string;
  /** Template of the other user turns; absent: they stay unchanged. */
  readonly followUp?: string;
}

function fillQuestions(
  messages: readonly ChatMessage[],
  { full, followUp }: QuestionTemplates,
  context: string,
): { question: string; turns: ChatMessage[] } {
  const last = messages.findLastIndex(isUser);
  const question = messages[last]?.content;
  if (question === undefined)
    throw invalidField('messages', 'must contain at least one message with the role user');
  if (!full.includes('{question}')) throw invalidField('chat_template', 'must contain {question}');
  const grounded = followUp === undefined ? last : messages.findIndex(isUser);
  const turns = messages.map((turn, index) => {
    const template = index === grounded ? full : isUser(turn) ? followUp : undefined;
    return template === undefined
      ? turn
      : { ...withImagesFirst(turn), content: fillTemplate(template, context, turn.content) };
  });
  return { question, turns };
}

/** The images of a turn come before its text, because the template moves the text. */
function withImagesFirst(turn: ChatMessage): ChatMessage {
  return turn.images ? { ...turn, images: turn.images.map((image) => ({ ...image, at: 0 })) } : turn;
}

/** Replaces both at once, so that braces inside a passage or a question stay unchanged. */
function fillTemplate(template: string, context: string, question: string): string {
  return template.replaceAll(/\{(context|question)\}/g, (_match, name: string) =>
    name === 'context' ? context : question,
  );
}

/** Puts the profile's system prompt before the caller's, in one turn, because many templates take only one. */
function withSystemPrompt(turns: readonly ChatMessage[], systemPrompt: string | undefined): ChatMessage[] {
  if (systemPrompt === undefined) return [...turns];
  const own = turns.filter(isSystem).map(({ content }) => content);
  const content = [systemPrompt, ...own].join('\n\n');
  return [{ role: 'system', content }, ...turns.filter((turn) => !isSystem(turn))];
}

function isSystem({ role }: ChatMessage): boolean {
  return role === 'system';
}

function isUser({ role }: ChatMessage): boolean {
  return role === 'user';
}

/** Characters `start` to `end` (exclusive) of a passage's text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A passage as the prompt shows it: `[number] text`. */
export interface Passage {
  /** From 1. */
  readonly number: number;
  readonly documentId: string;
  /** The file, before the text of a passage that the user attached. */
  readonly label?: string | undefined;
  /** One line, with normalized whitespace. */
  readonly text: string;
  /** Sentences in order, separated by single spaces. */
  readonly sentences: readonly Span[];
}

/** A passage of whole sentences. */
function createPassage(number: number, documentId: string, sentences: readonly string[]): Passage {
  let start = 0;
  const spans = sentences.map((sentence) => {
    const span = { start, end: start + sentence.length };
    start = span.end + 1;
    return span;
  });
  return { number, documentId, text: sentences.join(' '), sentences: spans };
}

/** A passage with the whole text of a document. */
export function passageOf(number: number, documentId: string, text: string): Passage {
  return createPassage(number, documentId, sentencesOf(text));
}

export interface PassageLimits {
  readonly maxPassages: number;
  /** Limit for the words of all passages together. */
  readonly maxContextWords: number;
}

/**
 * The passages within the limit, in the order of the documents. The last one is cut at the end of a sentence. If there
 * is any text, there is at least one passage: a first sentence beyond the limit is cut at a word.
 */
export function selectPassages(documents: readonly RetrievedDocument[], limits: PassageLimits): Passage[] {
  const passages: Passage[] = [];
  let room = limits.maxContextWords;
  for (const document of documents) {
    const { id, text } = document;
    if (passages.length === limits.maxPassages || room <= 0) break;
    const sentences = sentencesOf(text);
    if (sentences.length === 0) continue;
    const fitting = fittingSentences(sentences, room);
    const label = labelOf(document);
    if (fitting.length > 0) passages.push({ ...createPassage(passages.length + 1, id, fitting), label });
    else if (passages.length === 0)
      passages.push({ ...createPassage(1, id, [firstWords(sentences[0]!, room)]), label });
    if (fitting.length < sentences.length) break;
    room -= countWords(fitting.join(' '));
  }
  return passages;
}

function labelOf(passage: RetrievedDocument): string | undefined {
  const { filename } = passage.metadata;
  if (!isAttached(passage) || typeof filename !== 'string') return undefined;
  return `(attached file ${normalizeWhitespace(filename)}) `;
}

function fittingSentences(sentences: readonly string[], room: number): string[] {
  let words = 0;
  const tooFar = sentences.findIndex((sentence) => (words += countWords(sentence)) > room);
  return tooFar === -1 ? [...sentences] : sentences.slice(0, tooFar);
}

/**
 * Drops the last documents, and cuts the only one that is left, until the prompt fits. At least one word of a document
 * stays, even if the question alone is too long (then the model refuses it).
 */
export async function fitDocuments(
  documents: readonly RetrievedDocument[],
  fits: (documents: readonly RetrievedDocument[]) => Promise<boolean>,
): Promise<readonly RetrievedDocument[]> {
  if (documents.length === 0 || (await fits(documents))) return documents;
  const count = await largest(documents.length - 1, (length) => fits(documents.slice(0, length)));
  if (count > 0) return documents.slice(0, count);
  const [first] = documents;
  if (!first) return documents;
  const cutTo = (words: number) => [{ ...first, text: firstWords(first.text, words) }];
  return cutTo(Math.max(1, await largest(countWords(first.text), (words) => fits(cutTo(words)))));
}

/** The largest number from 1 to `max` that passes; 0 if 1 does not. */
async function largest(max: number, passes: (number: number) => Promise<boolean>): Promise<number> {
  let low = 0;
  let high = max;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (await passes(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The system turns, and the last user turn with all later messages. */
export function lastExchange(messages: readonly ChatMessage[]): ChatMessage[] {
  const question = messages.findLastIndex(isUser);
  return messages.filter((message, index) => index >= question || isSystem(message));
}

/**
 * Drops the oldest turns with their answers until the prompt fits. System turns and the last user turn with all later
 * messages stay, even if they alone are too long (then the model refuses them). `countTokens` counts the tokens of the
 * prompt of these messages.
 */
export async function fitConversation(
  messages: readonly ChatMessage[],
  maxTokens: number,
  countTokens: (messages: readonly ChatMessage[]) => Promise<number>,
): Promise<ChatMessage[]> {
  let kept = [...messages];
  for (;;) {
    const shorter = withoutOldestExchange(kept);
    if (!shorter || (await countTokens(kept)) <= maxTokens) return kept;
    kept = shorter;
  }
}

/** Drops the first turn that is not a system turn, up to the next user turn; undefined if only the question is left. */
function withoutOldestExchange(messages: readonly ChatMessage[]): ChatMessage[] | undefined {
  const question = messages.findLastIndex(({ role }) => role === 'user');
  const first = messages.findIndex(({ role }) => role !== 'system');
  if (first === -1 || first >= question) return undefined;
  const next = messages.findIndex(({ role }, index) => index > first && role === 'user');
  return messages.filter(({ role }, index) => index < first || index >= next || role === 'system');
}
