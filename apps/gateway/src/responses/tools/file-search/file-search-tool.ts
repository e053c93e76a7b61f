import { attributeFilterSchema, errorFromIssues } from '#contracts';
import type { ResponseTool } from '#responses';
import { z } from 'zod';
import { rankingOptionsSchema } from '../../../vector-stores/vector-store.requests.js';

/** Stores that one tool searches; each costs a search of its own. */
const mostStores = 16;
const defaultRanking = { ranker: 'auto', score_threshold: 0 } as const;

/** An entry of `tools`; clients write null for what they leave out. */
const fileSearchToolSchema = z.strictObject({
  type: z.literal('file_search'),
  vector_store_ids: z.array(z.string().min(1)).min(1).max(mostStores),
  max_num_results: z
    .int()
    .min(1)
    .max(50)
    .nullish()
    .transform((value) => value ?? 10),
  filters: attributeFilterSchema.nullish().transform((value) => value ?? undefined),
  ranking_options: rankingOptionsSchema.nullish().transform((value) => value ?? defaultRanking),
});
export type FileSearchTool = z.output<typeof fileSearchToolSchema>;

/** Reads an entry of `tools`. Errors: invalid_request with a path below `param` (`tools[2]`). */
export function readFileSearchTool(entry: ResponseTool, param: string): FileSearchTool {
  const result = fileSearchToolSchema.safeParse(entry);
  if (result.success) return result.data;
  throw errorFromIssues(result.error.issues.map((issue) => ({ ...issue, path: [param, ...issue.path] })));
}

/** How a model asks for a search. */
export const fileSearchArgumentsSchema = z.object({
  queries: z.array(z.string().min(1).max(4_096)).min(1).max(8),
});

/** What a model is told of the tool. */
export const fileSearchDefinition = {
  type: 'function' as const,
  name: 'file_search',
  description:
    'Searches the files that the user has uploaded and returns numbered passages. Use it whenever the answer may stand ' +
    'in these files. Cite the passages that an answer rests on by their numbers, like [1].',
  parameters: {
    type: 'object',
    properties: {
      queries: {
        type: 'array',
        items: { type: 'string' },
        minItems: 1,
        maxItems: 4,
        description:
          'What to search for: each query a short sentence of its own, in the words of the subject.',
      },
    },
    required: ['queries'],
    additionalProperties: false,
  },
  strict: true,
};
