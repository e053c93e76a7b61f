import { type ChatMessage, invalidField } from '#contracts';
import type { MegaServiceDefinition } from '#dag';
import { questionOf } from './mega-service-request.js';

/** Two letters or digits in a row, or one character of a script that writes a word with one. */
const word = /[\p{L}\p{N}]{2}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** Whether a mega service searches documents with what is asked. */
export function searches({ nodes }: MegaServiceDefinition): boolean {
  return [...nodes.values()].some(({ target: { service, megaService } }) =>
    megaService ? searches(megaService) : service === 'retrieval',
  );
}

/**
 * Refuses a question without a word: a search finds something for it all the same, and an answer from that would look
 * like one. Errors: invalid_request.
 */
export function assertSearchable(definition: MegaServiceDefinition, messages: readonly ChatMessage[]): void {
  if (!searches(definition)) return;
  const question = questionOf(messages);
  if (word.test(question)) return;
  const reason = question.trim() === '' ? 'the question is empty' : 'the question has no word to search for';
  throw invalidField('messages', reason);
}

/** Kind of what a mega service gives: `answer`, `documents`, `vectors`, …. */
export function outputKindOf({ nodes, output }: MegaServiceDefinition): string {
  return nodes.get(output)?.target.kind.output ?? '';
}

/** True of the mega services that are models for chats and responses. */
export function givesAnswers(definition: MegaServiceDefinition): boolean {
  return outputKindOf(definition) === 'answer';
}

/** Errors: invalid_request for a mega service that cannot answer a chat, naming its own path. */
export function assertGivesAnswers(definition: MegaServiceDefinition): void {
  if (givesAnswers(definition)) return;
  const { name, path } = definition;
  const where = path === undefined ? 'it is for other mega services' : `use POST ${path}`;
  throw invalidField('model', `${name} gives ${outputKindOf(definition)}, no answers; ${where}`);
}
