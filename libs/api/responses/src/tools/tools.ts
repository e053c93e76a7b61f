import { safeParse, type Tool } from '#platform/contracts';
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

/** A tool of any type, because Codex and other clients send types that a server may not know. Functions are checked. */
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

/** Chat completions nest a function below `function`; the Responses API does not. */
function flattened(tool: Record<string, unknown>): Record<string, unknown> {
  const nested = tool['function'];
  return typeof nested === 'object' && nested !== null ? { type: 'function', ...nested } : tool;
}

export const toolChoiceSchema = z.union(
  [z.enum(['none', 'auto', 'required']), z.looseObject({ type: z.string().min(1) })],
  'must be none, auto, required or an object with a type',
);

/** Parses a value with the schema for its type, and passes on the issues with their paths. */
export function delegate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  context: z.RefinementCtx,
): z.output<Schema> {
  const parsed = safeParse(schema, value);
  if (parsed.success) return parsed.data;
  // A raw issue is an issue with its input.
  const issues = parsed.error.issues.map((issue) => ({ ...issue, input: value }) as z.core.$ZodRawIssue);
  context.issues.push(...issues);
  return z.NEVER;
}

/** The tool in the request for a name that the model calls. */
export interface CallTarget {
  type: 'function' | 'custom';
  name: string;
  namespace?: string;
}

export interface ModelTools {
  /** The tools that the caller runs, in the model's format; names are unique. */
  tools: Tool[];
  /** By the name that the model uses. */
  targets: Map<string, CallTarget>;
  /** Entries of other types, which the server runs or does not know. */
  others: ResponseTool[];
}

const functionEntry = z.looseObject({
  type: z.literal('function'),
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
});
const customEntry = z.looseObject({
  type: z.literal('custom'),
  name: z.string(),
  description: z.string().nullish(),
  format: z
    .union([
      z.looseObject({
        type: z.literal('grammar'),
        syntax: z.enum(['lark', 'regex']),
        definition: z.string(),
      }),
      z.looseObject({ type: z.literal('text') }),
    ])
    .nullish(),
});
const callable = z.union([functionEntry, customEntry]);
const namespace = z.looseObject({
  type: z.literal('namespace'),
  name: z.string(),
  description: z.string().nullish(),
  tools: z.array(z.unknown()),
});

/**
 * Converts a request's tools for the model: functions and custom tools; a tool of a namespace gets the name
 * `<namespace>__<name>`. Other entries are in `others`.
 */
export function modelTools(tools: readonly ResponseTool[]): ModelTools {
  const result: ModelTools = { tools: [], targets: new Map(), others: [] };
  for (const [index, entry] of tools.entries()) {
    const path = `tools[${index}]`;
    const single = callable.safeParse(entry);
    const group = namespace.safeParse(entry);
    if (single.success) add(result, single.data, path);
    else if (group.success) addGroup(result, group.data, path);
    else result.others.push(entry);
  }
  return result;
}

function addGroup(result: ModelTools, group: z.output<typeof namespace>, path: string): void {
  for (const [index, entry] of group.tools.entries()) {
    const inner = callable.safeParse(entry);
    if (inner.success) add(result, inner.data, `${path}.tools[${index}]`, group.name);
    else result.others.push(entry as ResponseTool);
  }
}

function add(result: ModelTools, entry: z.output<typeof callable>, path: string, group?: string): void {
  const name = uniqueName(modelToolName(entry.name, group), result.targets);
  result.targets.set(name, {
    type: entry.type,
    name: entry.name,
    ...(group !== undefined && { namespace: group }),
  });
  const description = entry.description ?? undefined;
  if (entry.type === 'custom') {
    const { format } = entry;
    const grammar =
      format?.type === 'grammar' ? { syntax: format.syntax, definition: format.definition } : undefined;
    result.tools.push({ type: 'custom', name, description, grammar, at: `${path}.format.definition` });
  } else {
    const { parameters, strict } = entry;
    result.tools.push({
      type: 'function',
      name,
      description,
      parameters: parameters ?? undefined,
      strict: strict ?? undefined,
      at: `${path}.parameters`,
    });
  }
}

/** The model's name for a tool of a namespace. */
export function modelToolName(name: string, group: string | undefined): string {
  if (group === undefined) return name;
  return group.endsWith('__') ? `${group}${name}` : `${group}__${name}`;
}

/** OpenAI allows one name in several namespaces; the model must be able to tell them apart. */
function uniqueName(name: string, taken: ReadonlyMap<string, unknown>): string {
  let unique = name;
  for (let count = 2; taken.has(unique); count += 1) unique = `${name}_${count}`;
  return unique;
}
