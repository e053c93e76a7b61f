import { invalidField, type ChatMessage } from '#platform/contracts';
import type { Profile } from '#platform/service-kit';
import { nothingFound } from './answer-instruction.js';
import { withoutMarkers } from './earlier-answers.js';
import type { Passage } from './passages.js';

export type GroundingSettings = Profile['llm']['grounding'];

export interface GroundedPrompt {
  /** The conversation with its last user turn replaced by the passages and the question. */
  readonly messages: ChatMessage[];
  readonly passages: readonly Passage[];
  /** The text of the user's last message. */
  readonly question: string;
}

export interface GroundedRequest {
  readonly messages: readonly ChatMessage[];
  readonly passages: readonly Passage[];
  /** Replaces the profile's template. It must contain `{question}` and may contain `{context}`. */
  readonly chat_template?: string | undefined;
  /** How to answer, for models that follow instructions. */
  readonly instruction?: string | undefined;
  /** The collection that was searched, if the caller named one. */
  readonly collection?: string | undefined;
}

/**
 * Writes the prompt that the profile's model expects: the caller's system turns, the profile's text and the
 * instructions in one system turn, the conversation without the numbers of earlier answers, and the passages with the last or the first
 * question of the conversation, as the profile says. Errors: invalid_request for a conversation without a user turn, or
 * for a template without `{question}`.
 */
export function buildGroundedPrompt(request: GroundedRequest, settings: GroundingSettings): GroundedPrompt {
  const { chat_template, messages, passages } = request;
  const templates = {
    full: chat_template ?? settings.userPrompt,
    followUp: chat_template === undefined ? settings.followUpPrompt : undefined,
  };
  const context = passages.length === 0 ? nothingFound(request.collection) : renderPassages(passages);
  const { question, turns } = fillQuestions(messages.map(withoutMarkers), templates, context);
  const system = [settings.systemPrompt, request.instruction];
  return { messages: withSystemPrompt(turns, system), passages, question };
}

/** Fills a caller's template without documents: `{context}` is empty. Errors: as {@link buildGroundedPrompt}. */
export function fillChatTemplate(messages: readonly ChatMessage[], template: string): ChatMessage[] {
  return fillQuestions(messages, { full: template }, '').turns;
}

/** The passages with their numbers: `[1] text`, with blank lines between passages of several lines. */
export function renderPassages(passages: readonly Passage[]): string {
  const separator = passages.some(({ shown }) => shown.includes('\n')) ? '\n\n' : '\n';
  return passages.map(({ number, shown }) => `[${number}] ${shown}`).join(separator);
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

/**
 * Adds texts after the caller's system turns, in one turn, because many templates take only one. The caller's come
 * first: they say what the assistant is, and the others how it answers.
 */
function withSystemPrompt(
  turns: readonly ChatMessage[],
  texts: readonly (string | undefined)[],
): ChatMessage[] {
  const added = texts.filter((text) => text !== undefined && text !== '');
  if (added.length === 0) return [...turns];
  const own = turns.filter(isSystem).map(({ content }) => content);
  return [
    { role: 'system', content: [...own, ...added].join('\n\n') },
    ...turns.filter((turn) => !isSystem(turn)),
  ];
}

function isSystem({ role }: ChatMessage): boolean {
  return role === 'system';
}

function isUser({ role }: ChatMessage): boolean {
  return role === 'user';
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
