import type { z } from 'zod';
import { MegaNestError } from './errors.js';
import { readWrittenValues, withoutNulls, type TypeIssue } from './written-values.js';

interface SchemaIssue extends TypeIssue {
  readonly message: string;
  /** The unknown fields of an object that accepts no other fields. */
  readonly keys?: readonly string[];
  /** The issues of each alternative of a union, with paths relative to the union. */
  readonly errors?: readonly (readonly SchemaIssue[])[];
}

/**
 * The issue of a failed union that belongs to the alternative that the caller most likely meant: the one for a list that
 * is too long, or the deepest one.
 */
function deepest(issue: SchemaIssue): SchemaIssue {
  const candidates = (issue.errors ?? []).flatMap((issues) => issues.slice(0, 1)).map(deepest);
  const tooLarge = candidates.find(({ code }) => code === 'too_big');
  const best = tooLarge ?? candidates.sort((a, b) => (b.path?.length ?? 0) - (a.path?.length ?? 0))[0];
  if (!best || (!tooLarge && !best.path?.length)) return issue;
  return { code: best.code, message: best.message, path: [...(issue.path ?? []), ...(best.path ?? [])] };
}

/** A path in OpenAI's notation: `input[0].content[1]`. */
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

/** Zod's own `validate` sets it: a list or an object is left at its first element or field that does not match. */
const firstIssue = { abortEarly: true } as z.core.ParseContext<z.core.$ZodIssue>;

/** Values of a body whose issues are all made. An issue may need a thousand times the memory of its two characters. */
const maxSampledValues = 500;

/**
 * Parses with a schema. A large value that does not match has its first issue only, so that the time to refuse a value
 * does not grow with its elements.
 */
export function safeParse<Schema extends z.ZodType>(schema: Schema, value: unknown) {
  const result = schema.safeParse(value, firstIssue);
  if (result.success || !isSmall(value)) return result;
  return schema.safeParse(value);
}

/**
 * Parses with a schema; a mismatch throws `invalid_request` that names the field. Fields may hold null in place of nothing,
 * and numbers and booleans as texts: see {@link withoutNulls} and {@link readWrittenValues}. The first
 * {@link maxSampledValues} values of a large body say which of its fields.
 */
export function parseOrThrow<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  let given: unknown = value;
  let result = schema.safeParse(given, firstIssue);
  for (const repair of [withoutNulls, readWrittenValues]) {
    if (result.success || isTooLarge(result.error.issues)) break;
    const budget = { left: maxSampledValues };
    const issues = schema.safeParse(sampleOf(given, budget)).error?.issues ?? [];
    const repaired = repair(given, issues, budget.left < 0);
    if (repaired === undefined) continue;
    given = repaired;
    result = schema.safeParse(given, firstIssue);
  }
  if (result.success) return result.data;
  throw errorFromIssues(result.error.issues);
}

/** Nothing that can be repaired shortens a list. */
function isTooLarge([issue]: readonly SchemaIssue[]): boolean {
  return issue !== undefined && deepest(issue).code === 'too_big';
}

interface Budget {
  /** Values that may still be read; below zero if the value has more. */
  left: number;
}

function isSmall(value: unknown): boolean {
  const budget = { left: maxSampledValues };
  sampleOf(value, budget);
  return budget.left >= 0;
}

/** The value up to a number of elements and fields. Lists lose their ends, so that paths stay as they are. */
function sampleOf(value: unknown, budget: Budget): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const sample: unknown[] = [];
    for (const element of value as unknown[]) {
      budget.left -= 1;
      if (budget.left < 0) break;
      sample.push(sampleOf(element, budget));
    }
    return sample;
  }
  budget.left -= Object.keys(value).length;
  if (budget.left < 0) return {};
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, sampleOf(inner, budget)]));
}
