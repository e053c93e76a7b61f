import { MegaNestError, type ChatMessage } from '#platform/contracts';
import type { TextTokenizer } from '#engine/models';

/** Maximum characters of a prompt that is tokenized without an estimate of its length first. */
const shortPrompt = 16_384;
/** Tolerance of the estimate: each cut of a long text adds up to one token. */
const tolerance = 1.1;

/**
 * Returns the token ids of a prompt: a conversation through the chat template, a rendered prompt with the model's
 * special tokens. `images`: the texts of its images in the prompt.
 */
export function promptIds(
  tokenizer: TextTokenizer,
  messages: readonly ChatMessage[] | string,
  chatTemplateKwargs?: Readonly<Record<string, unknown>>,
  images?: readonly string[],
): number[] {
  if (typeof messages === 'string') return tokenizer.encodeMarked(messages);
  return tokenizer.encodeChat(messages, chatTemplateKwargs, images);
}

/**
 * Returns the approximate number of tokens of a prompt that is certainly too long; undefined for any other. Exact
 * tokenization of a million characters takes seconds; this estimate does not.
 */
export function tokensBeyond(
  tokenizer: TextTokenizer,
  messages: readonly ChatMessage[] | string,
  chatTemplateKwargs: Readonly<Record<string, unknown>> | undefined,
  limit: number,
): number | undefined {
  if (promptLength(messages, chatTemplateKwargs) <= shortPrompt) return undefined;
  const text = typeof messages === 'string' ? messages : tokenizer.renderMarked(messages, chatTemplateKwargs);
  const { tokens, characters } = tokenizer.countUpTo(text, limit * tolerance);
  return tokens > limit * tolerance ? Math.ceil((tokens * text.length) / characters) : undefined;
}

/** The error about a prompt of `tokens` tokens, a number or its description, for a model with a context of so many. */
export function promptTooLong(model: string, contextLength: number, tokens: number | string): MegaNestError {
  const limit = contextLength - 1;
  return new MegaNestError('context_length_exceeded', { tokens, model, limit, param: 'messages' });
}

/**
 * Returns the approximate number of characters of a prompt: of all texts that a chat template may write, including
 * tool calls, reasoning and tool descriptions.
 */
export function promptLength(
  messages: readonly ChatMessage[] | string,
  chatTemplateKwargs: Readonly<Record<string, unknown>> = {},
): number {
  if (typeof messages === 'string') return messages.length;
  const texts = messages.reduce((sum, message) => sum + messageLength(message), 0);
  return texts + JSON.stringify(chatTemplateKwargs).length;
}

function messageLength({ content, reasoning = '', name = '', toolCalls = [] }: ChatMessage): number {
  const calls = toolCalls.reduce((sum, call) => sum + call.name.length + call.input.length, 0);
  return content.length + reasoning.length + name.length + calls;
}
