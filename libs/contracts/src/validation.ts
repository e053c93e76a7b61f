import type { z } from 'zod';
import { MegaNestError } from './errors.js';

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Turns the first issue of a failed validation into a 400 whose `param` is the path of the field. */
export function errorFromIssues(issues: readonly SchemaIssue[]): MegaNestError {
  const issue = issues[0];
  const path = (issue?.path ?? [])
    .map((part) => String(typeof part === 'object' ? part.key : part))
    .join('.');
  const detail = path ? `${path}: ${issue?.message}` : (issue?.message ?? 'The request is invalid.');
  return new MegaNestError('invalid_request', { detail, param: path || null });
}

/** Parses with a schema; a mismatch throws `invalid_request` that names the field. */
export function parseOrThrow<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (!result.success) throw errorFromIssues(result.error.issues);
  return result.data;
}
