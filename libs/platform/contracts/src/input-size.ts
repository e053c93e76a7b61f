/** Limits for the texts of one request together, so that one request takes seconds of a model and not minutes. */
export const maxInputSize = {
  /** Tokens of all inputs of an embedding, as in OpenAI's API, and characters of its texts. */
  embeddingTokens: 300_000,
  embeddingCharacters: 1_200_000,
  /** Characters of all documents to rank: a thousand of the usual limit of a model. */
  rerankingCharacters: 2_000_000,
} as const;

/** The sum of the lengths of texts or token arrays. */
export function totalLength(inputs: Iterable<{ readonly length: number }>): number {
  let total = 0;
  for (const { length } of inputs) total += length;
  return total;
}

/** Says what is wrong with the inputs of an embedding that are too long together; undefined if they are not. */
export function tooLongToEmbed(inputs: readonly (string | readonly number[])[]): string | undefined {
  const isText = typeof inputs[0] === 'string';
  const max = isText ? maxInputSize.embeddingCharacters : maxInputSize.embeddingTokens;
  const total = totalLength(inputs);
  if (total <= max) return undefined;
  const unit = isText ? 'characters' : 'tokens';
  return `has ${total} ${unit} together; the limit of a request is ${max}. Send several requests`;
}

/** Says what is wrong with documents to rank that are too long together; undefined if they are not. */
export function tooLongToRank(texts: readonly string[]): string | undefined {
  const max = maxInputSize.rerankingCharacters;
  const total = totalLength(texts);
  return total <= max
    ? undefined
    : `has ${total} characters together; the limit of a request is ${max}. Send several requests`;
}
