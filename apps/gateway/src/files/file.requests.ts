import { z } from 'zod';

const purpose = z.enum(['assistants', 'batch', 'fine-tune', 'vision', 'user_data', 'evals']);
const expiresAfter = z.strictObject({
  anchor: z.literal('created_at'),
  seconds: z.coerce.number().int().min(3_600).max(2_592_000),
});
const filename = z.string().min(1).max(255);

/** The fields of the form beside the file. */
export const fileFieldsSchema = z.strictObject({ purpose, expires_after: expiresAfter.optional() });
export type FileFields = z.output<typeof fileFieldsSchema>;

/** The whole form, for the document. */
export const fileFormSchema = fileFieldsSchema.extend({
  file: z.string().describe('The file').meta({ format: 'binary' }),
});
export const partFormSchema = z.strictObject({
  data: z.string().describe('The bytes of the part').meta({ format: 'binary' }),
});

export const fileListQuerySchema = z.object({
  limit: z.coerce.number().int().min(1).max(10_000).default(10_000),
  order: z.enum(['asc', 'desc']).default('desc'),
  after: z.string().optional(),
  purpose: z.string().optional(),
});
export type FileListQuery = z.output<typeof fileListQuerySchema>;

export const createUploadSchema = z.strictObject({
  filename,
  purpose,
  bytes: z.int().min(1),
  mime_type: z.string().min(1).max(255),
  expires_after: expiresAfter.optional(),
});
export type CreateUpload = z.output<typeof createUploadSchema>;

export const completeUploadSchema = z.strictObject({
  part_ids: z.array(z.string()).min(1).max(10_000),
  md5: z
    .string()
    .regex(/^[0-9a-fA-F]{32}$/, 'is no MD5 in hex')
    .optional(),
});
export type CompleteUpload = z.output<typeof completeUploadSchema>;

/** Files of this purpose go by themselves, as OpenAI's do. */
const batchFileSeconds = 30 * 24 * 60 * 60;

export function expirySeconds({ purpose: wanted, expires_after: after }: FileFields): number | undefined {
  return after?.seconds ?? (wanted === 'batch' ? batchFileSeconds : undefined);
}
