import {
  decodeVectors,
  embeddingParametersSchema,
  encodeVector,
  tooLongToEmbed,
  type embed,
  type ReplyOf,
} from '#platform/contracts';
import { z } from 'zod';

const text = z.string().min(1, 'must not be empty');
const tokens = z.array(z.int().min(0)).min(1).max(8192);

const maxInputs = 2048;

/** One text, one token array, or a list of either; always a list after parsing. */
const inputSchema = z
  .union([text, z.array(text).min(1), tokens, z.array(tokens).min(1)], {
    error: 'must be a non-empty string, an array of strings, an array of tokens or an array of token arrays',
  })
  // The limit is not part of the alternatives, because a union reports the alternative that fails deepest.
  .refine((input) => typeof input === 'string' || typeof input[0] === 'number' || input.length <= maxInputs, {
    error: `must be at most ${maxInputs} texts or token arrays`,
  })
  .describe(`At most ${maxInputs} texts or token arrays`);

/** The body of `POST /v1/embeddings`, also with OPEA's older field `text`; `inputs` is the input as a list. */
export const embeddingRequestSchema = z
  .object({
    input: inputSchema.optional(),
    text: inputSchema.optional().describe('OPEA’s older name of the input, for bodies without `input`'),
    model: z.string().optional(),
    encoding_format: z.enum(['float', 'base64']).default('float'),
    dimensions: z.int().min(1).optional(),
    input_type: embeddingParametersSchema.shape.input_type,
    user: z.string().optional(),
  })
  .transform(({ input, text: older, ...rest }, context) => {
    const given = input ?? older;
    const inputs = given && toList(given);
    const problem = inputs ? tooLongToEmbed(inputs) : 'is required';
    if (inputs && problem === undefined) return { ...rest, inputs };
    const path = [input === undefined && older !== undefined ? 'text' : 'input'];
    context.addIssue({ code: 'custom', path, message: problem });
    return z.NEVER;
  });
export type EmbeddingRequest = z.output<typeof embeddingRequestSchema>;

/** OpenAI's list of embeddings. */
export const embeddingResponseSchema = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      object: z.literal('embedding'),
      index: z.int(),
      embedding: z.union([z.array(z.number()), z.string().describe('base64 of little-endian Float32')]),
    }),
  ),
  model: z.string(),
  usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
});
export type EmbeddingResponse = z.infer<typeof embeddingResponseSchema>;

/** OpenAI's answer; base64 is little-endian Float32, as the openai client asks for by default. */
export function embeddingResponse(
  reply: ReplyOf<typeof embed>,
  format: 'float' | 'base64',
): EmbeddingResponse {
  const vectors = decodeVectors(reply.vectors, reply.dimensions);
  return {
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: format === 'base64' ? encodeVector(vector) : [...vector],
    })),
    model: reply.model,
    usage: { prompt_tokens: reply.promptTokens, total_tokens: reply.promptTokens },
  };
}

function toList(input: z.output<typeof inputSchema>): string[] | number[][] {
  if (typeof input === 'string') return [input];
  return typeof input[0] === 'number' ? [input as number[]] : (input as string[] | number[][]);
}
