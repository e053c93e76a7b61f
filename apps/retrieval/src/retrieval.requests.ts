import { retrievalParametersSchema } from '#contracts';
import { z } from 'zod';

const numbersSchema = z.array(z.number()).max(16_000);

/** A list of numbers, or the reply of an embedding service as it is; an empty list counts as none. */
const embeddingSchema = z
  .union([
    numbersSchema,
    z
      .object({ data: z.tuple([z.object({ embedding: numbersSchema })], z.unknown()) })
      .transform(({ data }) => data[0].embedding),
  ])
  .transform((numbers) => (numbers.length > 0 ? Float32Array.from(numbers) : undefined));

const bodySchema = retrievalParametersSchema.extend({
  /** The reference's name for a collection. */
  index_name: retrievalParametersSchema.shape.collection,
  text: z.string().min(1).optional(),
  input: z.string().min(1).optional(),
  embedding: embeddingSchema.optional(),
  /** An accident of the reference implementation that its clients copied: taken and echoed. */
  json_encoders: z.unknown().optional(),
});

/** The reference writes parameters that are not set as null. */
function dropNulls(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

/** The spec's `{text, embedding}` and the reference's `{text|input, embedding, k, search_type, …}`. */
export const retrievalRequestSchema = z
  .preprocess(dropNulls, bodySchema)
  .transform(({ text, input, index_name, collection = index_name, ...body }, context) => {
    const query = text ?? input;
    if (query !== undefined) return { ...body, collection, text: query };
    context.addIssue({ code: 'custom', path: ['text'], message: 'the text to search for is missing' });
    return z.NEVER;
  });

export type RetrievalRequest = z.output<typeof retrievalRequestSchema>;
