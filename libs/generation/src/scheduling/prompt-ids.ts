import type { ChatMessage } from '#contracts';
import type { TextTokenizer } from '#models';

/** Characters of a prompt that is tokenized without a look at its length first. */
const shortPrompt = 16_384;
/** A token too many is counted at each cut of a long text: a share of all that never matters to what is refused. */
const doubt = 1.1;

/** The prompt's tokens: a conversation through the chat template, a rendered prompt with the marks the model expects. */
export function promptIds(
  tokenizer: TextTokenizer,
  messages: readonly ChatMessage[] | string,
  chatTemplateKwargs?: Readonly<Record<string, unknown>>,
): number[] {
  if (typeof messages === 'string') return tokenizer.encodeMarked(messages);
  return tokenizer.encodeChat(messages, chatTemplateKwargs);
}

/**
 * About how many tokens a prompt has that is certainly too long for a model; undefined for any other. A prompt of a million
 * characters takes seconds to tokenize, and this does not.
 */
export function tokensBeyond(
  tokenizer: TextTokenizer,
  messages: readonly ChatMessage[] | string,
  chatTemplateKwargs: Readonly<Record<string, unknown>> | undefined,
  limit: number,
): number | undefined {
  if (promptLength(messages) <= shortPrompt) return undefined;
  const text = typeof messages === 'string' ? messages : tokenizer.renderMarked(messages, chatTemplateKwargs);
  const { tokens, characters } = tokenizer.countUpTo(text, limit * doubt);
  return tokens > limit * doubt ? Math.ceil((tokens * text.length) / characters) : undefined;
}

/** Characters of a prompt. */
export function promptLength(messages: readonly ChatMessage[] | string): number {
  if (typeof messages === 'string') return messages.length;
  return messages.reduce((sum, { content }) => sum + content.length, 0);
}
