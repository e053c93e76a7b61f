import { z } from 'zod';

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
