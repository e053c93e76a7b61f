import { type ChatMessage, type RetrievedDocument, invalidField } from '#contracts';
import type { Profile } from '#service-kit';
import type { Passage } from './passage.js';
import { selectPassages } from './select-passages.js';

export type GroundingSettings = Profile['llm']['grounding'];

export interface GroundedPrompt {
  /** The conversation with its last user turn replaced by the passages and the question. */
  readonly messages: ChatMessage[];
  readonly passages: Passage[];
  /** What the user asked last. */
  readonly question: string;
}

export interface GroundedRequest {
  readonly messages: readonly ChatMessage[];
  readonly documents: readonly RetrievedDocument[];
  /** Takes the place of the profile's template; `{question}` must be in it, `{context}` may. */
  readonly chat_template?: string;
}

/**
 * Writes the prompt that the profile's model expects: its system prompt, and the passages in the place that the profile
 * gives them, with the last question or with the conversation's first. Errors: invalid_request for a conversation
 * without a user turn or a template without `{question}`.
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

/** A caller's template without documents: the last user turn in it, nothing for `{context}`. Errors as above. */
export function fillChatTemplate(messages: readonly ChatMessage[], template: string): ChatMessage[] {
  return fillQuestions(messages, { full: template }, '').turns;
}

/** One line per passage: `[1] text`. */
export function renderPassages(passages: readonly Passage[]): string {
  return passages.map(({ number, text }) => `[${number}] ${text}`).join('\n');
}

interface QuestionTemplates {
  /** Of the user turn with the passages. */
  readonly full: string;
  /** Of the other user turns; where there is none these stay as they are. */
  readonly followUp?: string;
}

function fillQuestions(
  messages: readonly ChatMessage[],
  { full, followUp }: QuestionTemplates,
  context: string,
): { question: string; turns: ChatMessage[] } {
  const last = messages.findLastIndex(isUser);
  const question = messages[last]?.content;
  if (question === undefined) throw invalidField('messages', 'at least one must be of the role user');
  if (!full.includes('{question}')) throw invalidField('chat_template', '{question} is missing in it');
  const grounded = followUp === undefined ? last : messages.findIndex(isUser);
  const turns = messages.map((turn, index) => {
    const template = index === grounded ? full : isUser(turn) ? followUp : undefined;
    return template === undefined
      ? turn
      : { ...turn, content: fillTemplate(template, context, turn.content) };
  });
  return { question, turns };
}

/** Both at once, so that braces inside a passage or a question stay what they are. */
function fillTemplate(template: string, context: string, question: string): string {
  return template.replaceAll(/\{(context|question)\}/g, (_match, name: string) =>
    name === 'context' ? context : question,
  );
}

/** The profile's system prompt comes first; the caller's own follows in the same turn, as many templates take one. */
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
