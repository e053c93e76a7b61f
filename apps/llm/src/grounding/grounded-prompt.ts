import { MegaNestError, type ChatMessage, type RetrievedDocument } from '#contracts';
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
 * Writes the prompt that the profile's model expects: its system prompt, the earlier turns as they were, and the last
 * user turn as passages and question. Errors: invalid_request for a conversation without a user turn or a template
 * without `{question}`.
 */
export function buildGroundedPrompt(request: GroundedRequest, settings: GroundingSettings): GroundedPrompt {
  const passages = selectPassages(request.documents, settings);
  const template = request.chat_template ?? settings.userPrompt;
  const { question, turns } = fillQuestion(request.messages, template, renderPassages(passages));
  return { messages: withSystemPrompt(turns, settings.systemPrompt), passages, question };
}

/** A caller's template without documents: the last user turn in it, nothing for `{context}`. Errors as above. */
export function fillChatTemplate(messages: readonly ChatMessage[], template: string): ChatMessage[] {
  return fillQuestion(messages, template, '').turns;
}

/** One line per passage: `[1] text`. */
export function renderPassages(passages: readonly Passage[]): string {
  return passages.map(({ number, text }) => `[${number}] ${text}`).join('\n');
}

function fillQuestion(messages: readonly ChatMessage[], template: string, context: string) {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const question = messages[last]?.content;
  if (question === undefined) throw invalid('messages', 'at least one must be of the role user');
  if (!template.includes('{question}')) throw invalid('chat_template', '{question} is missing in it');
  const content = fillTemplate(template, context, question);
  return { question, turns: messages.map((turn, index) => (index === last ? { ...turn, content } : turn)) };
}

function invalid(param: string, detail: string): MegaNestError {
  return new MegaNestError('invalid_request', { detail: `${param}: ${detail}`, param });
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
