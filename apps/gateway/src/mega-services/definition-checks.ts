import { type ChatMessage, invalidField } from '#platform/contracts';
import type { MegaServiceDefinition } from '#platform/dag';
import { hasWord } from '#answers/questions';
import { hasFiles } from '../input-files/attached-files.js';
import { questionOf } from './mega-service-request.js';

/** Whether a mega service searches documents for the question. */
export function searches({ nodes }: MegaServiceDefinition): boolean {
  return [...nodes.values()].some(({ target: { service, megaService } }) =>
    megaService ? searches(megaService) : service === 'retrieval',
  );
}

/**
 * Refuses a question without a word. A search would find passages for it nevertheless, and the answer would look valid.
 * Files without a question are summarized. Errors: invalid_request.
 */
export function assertSearchable(definition: MegaServiceDefinition, messages: readonly ChatMessage[]): void {
  if (!searches(definition) || hasFiles(messages)) return;
  const question = questionOf(messages);
  if (hasWord(question)) return;
  const reason = question.trim() === '' ? 'the question is empty' : 'the question has no word to search for';
  throw invalidField('messages', reason);
}

/** Kind of a mega service's output: `answer`, `documents`, `vectors`, …. */
export function outputKindOf({ nodes, output }: MegaServiceDefinition): string {
  return nodes.get(output)?.target.kind.output ?? '';
}

/** Whether a mega service is a model for chats and responses. */
export function givesAnswers(definition: MegaServiceDefinition): boolean {
  return outputKindOf(definition) === 'answer';
}

/** Services whose output is a text about the message, and not an answer to it. */
const textServices: ReadonlySet<string> = new Set(['llm.summarize', 'llm.faq', 'llm.write']);

/** Whether a mega service answers conversations; false if it writes summaries or questions about a text. */
export function takesConversations({ nodes, output }: MegaServiceDefinition): boolean {
  const { service, megaService } = nodes.get(output)?.target ?? {};
  return megaService ? takesConversations(megaService) : !textServices.has(service ?? '');
}

/** Refuses a mega service that cannot answer a chat. Errors: invalid_request with the path of the mega service. */
export function assertGivesAnswers(definition: MegaServiceDefinition): void {
  if (givesAnswers(definition)) return;
  const { name, path } = definition;
  const where = path === undefined ? 'only other mega services can use it' : `use POST ${path}`;
  throw invalidField('model', `${name} returns ${outputKindOf(definition)}, not answers; ${where}`);
}
