import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '#platform/testing';
import { parse } from 'yaml';

/** The part of a compose file's service that the tests look at, after merging and interpolation. */
export interface ComposeService {
  image?: string;
  command?: string[];
  environment?: Record<string, string | number>;
  ports?: string[];
  volumes?: string[];
  logging?: { options: Record<string, string> };
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  networks?: string[];
  tmpfs?: string[];
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  mem_limit?: string;
  pids_limit?: number;
  cpus?: string;
  build?: object;
  pull_policy?: string;
}

export interface ComposeFile {
  services: Record<string, ComposeService>;
  volumes?: Record<string, unknown>;
  networks?: Record<string, { internal?: boolean } | null>;
}

/** A required variable is missing; the message is the compose file's own. */
export class MissingVariableError extends Error {}

/** Index of the brace that closes the one before `start`. */
function findClosingBrace(text: string, start: number): number {
  let depth = 1;
  for (let index = start; index < text.length; index++) {
    if (text.startsWith('${', index)) depth++;
    else if (text[index] === '}' && --depth === 0) return index;
  }
  throw new Error(`Unbalanced braces in ${text}`);
}

function resolveExpression(expression: string, variables: NodeJS.ProcessEnv): string {
  const [, name = '', operator, inner = ''] = /^(\w+)(?:(:-|:\+|:\?)([\s\S]*))?$/.exec(expression) ?? [];
  if (name === '') throw new Error(`Not understood: \${${expression}}`);
  const value = variables[name] ?? '';
  // Compose 5.0 and older evaluate the word first: an error in a word that is not used still ends the command.
  const word = interpolate(inner, variables);
  if (operator === ':-') return value === '' ? word : value;
  if (operator === ':+') return value === '' ? '' : word;
  if (operator === ':?' && value === '') throw new MissingVariableError(word);
  return value;
}

/** Replaces `${NAME}`, `${NAME:-default}`, `${NAME:+replacement}` and `${NAME:?error}`, nested too, as compose does. */
export function interpolate(text: string, variables: NodeJS.ProcessEnv): string {
  const start = text.indexOf('${');
  if (start < 0) return text;
  const end = findClosingBrace(text, start + 2);
  const value = resolveExpression(text.slice(start + 2, end), variables);
  return text.slice(0, start) + value + interpolate(text.slice(end + 1), variables);
}

function interpolateAll(node: unknown, variables: NodeJS.ProcessEnv): unknown {
  if (typeof node === 'string') return interpolate(node, variables);
  if (Array.isArray(node)) return node.map((item) => interpolateAll(item, variables));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, interpolateAll(value, variables)]),
  );
}

/** Compose's `!reset []` removes what another file sets. */
const resetTag = { tag: '!reset', collection: 'seq' as const };

/** Reads a compose file of this repository as compose would with `variables` as its .env file. */
export function readComposeFile(path: string, variables: NodeJS.ProcessEnv = {}): ComposeFile {
  const text = readFileSync(join(repositoryRoot, path), 'utf8');
  const document: unknown = parse(text, { merge: true, customTags: [resetTag] });
  return interpolateAll(document, variables) as ComposeFile;
}
