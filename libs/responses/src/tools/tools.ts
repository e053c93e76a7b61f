import { z } from 'zod';
import type { ResponseTool } from '../response-object.js';

const functionSchema = z.looseObject({
  type: z.literal('function'),
  name: z
    .string()
    .regex(/^[\w.:-]{1,128}$/, 'must be 1 to 128 letters, digits, underscores, dots and dashes'),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
});

/** A tool of any type: Codex and others send types that a server may not know. Functions are checked. */
export const toolSchema = z
  .looseObject({ type: z.string().min(1) })
  .transform((tool, context): ResponseTool => {
    if (tool.type !== 'function') return tool;
    const { description, parameters, strict, ...rest } = delegate(functionSchema, flattened(tool), context);
    return {
      ...rest,
      description: description ?? null,
      parameters: parameters ?? null,
      strict: strict ?? null,
    };
  });

/** Chat completions nest a function below `function`; here it is flat. */
function flattened(tool: Record<string, unknown>): Record<string, unknown> {
  const nested = tool['function'];
  return typeof nested === 'object' && nested !== null ? { type: 'function', ...nested } : tool;
}

export const toolChoiceSchema = z.union(
  [z.enum(['none', 'auto', 'required']), z.looseObject({ type: z.string().min(1) })],
  'must be none, auto, required or an object with a type',
);

/** Parses with the schema that a value turned out to need, and passes on its issues with their paths. */
export function delegate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  context: z.RefinementCtx,
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  // An issue differs from a raw one in its input only, which it leaves out.
  const issues = parsed.error.issues.map((issue) => ({ ...issue, input: value }) as z.core.$ZodRawIssue);
  context.issues.push(...issues);
  return z.NEVER;
}
