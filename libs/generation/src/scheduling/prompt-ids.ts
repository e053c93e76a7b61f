import type { ChatMessage } from '#contracts';
import type { TextTokenizer } from '#models';

/** The prompt's tokens: a conversation through the chat template, a rendered prompt with the marks the model expects. */
export function promptIds(
  tokenizer: TextTokenizer,
  messages: readonly ChatMessage[] | string,
  chatTemplateKwargs?: Readonly<Record<string, unknown>>,
): number[] {
  if (typeof messages === 'string') return tokenizer.encodeMarked(messages);
  return tokenizer.encodeChat(messages, chatTemplateKwargs);
}

/** Characters of a prompt. */
export function promptLength(messages: readonly ChatMessage[] | string): number {
  if (typeof messages === 'string') return messages.length;
  return messages.reduce((sum, { content }) => sum + content.length, 0);
}
