import { z } from 'zod';

/** OpenAI's metadata: at most 16 pairs, names of at most 64 and values of at most 512 characters. */
export const metadataSchema = z
  .record(z.string().max(64), z.string().max(512))
  .refine((value) => Object.keys(value).length <= 16, 'must have at most 16 entries');
export type Metadata = z.infer<typeof metadataSchema>;
