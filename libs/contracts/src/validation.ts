import type { z } from 'zod';
import { MegaNestError } from './errors.js';

interface SchemaIssue {
  readonly message: string;
  /** Of an object that takes no other fields: those that it does not know. */
  readonly keys?: readonly string[];
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
  /** Of a union: the issues of each alternative, with paths relative to the union. */
  readonly errors?: readonly (readonly SchemaIssue[])[];
}

/** Of a union that failed, the issue that lies deepest: the alternative that the caller most likely meant. */
function deepest(issue: SchemaIssue): SchemaIssue {
  const candidates = (issue.errors ?? []).flatMap((issues) => issues.slice(0, 1)).map(deepest);
  const best = candidates.sort((a, b) => (b.path?.length ?? 0) - (a.path?.length ?? 0))[0];
  if (!best?.path?.length) return issue;
  return { message: best.message, path: [...(issue.path ?? []), ...best.path] };
}

/** A path as OpenAI writes it: `input[0].content[1]`. */
function fieldPath(parts: readonly (PropertyKey | { readonly key: PropertyKey })[]): string {
  const keys = parts.map((part) => (typeof part === 'object' ? part.key : part));
  return keys
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
}

/** Turns the first issue of a failed validation into a 400 whose `param` is the path of the field. */
export function errorFromIssues(issues: readonly SchemaIssue[]): MegaNestError {
  const issue = issues[0] && deepest(issues[0]);
  const path = fieldPath([...(issue?.path ?? []), ...(issue?.keys?.slice(0, 1) ?? [])]);
  const detail = path ? `${path}: ${issue?.message}` : (issue?.message ?? 'The request is invalid.');
  return new MegaNestError('invalid_request', { detail, param: path || null });
}

/** Parses with a schema; a mismatch throws `invalid_request` that names the field. */
export function parseOrThrow<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (!result.success) throw errorFromIssues(result.error.issues);
  return result.data;
}
