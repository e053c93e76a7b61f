import { ConstraintError } from '../constraint-error.js';
import type { GrammarNode } from '../grammar.js';
import { regexGrammar } from '../regex/regex-grammar.js';

/** Flags of Python's expressions that are honoured; `u` is how they are read anyway. */
const knownFlags = 'ismu';

/** An expression of a terminal, which Lark reads as Python does. Throws ConstraintError for what no grammar says. */
export function expressionGrammar(pattern: string, flags = ''): GrammarNode {
  const unknown = Array.from(flags).find((flag) => !knownFlags.includes(flag));
  if (unknown !== undefined)
    throw new ConstraintError(`the flag "${unknown}" of an expression is not supported.`);
  const readable = inJavaScript(pattern);
  try {
    // oxlint-disable-next-line no-new -- whether it can be read is what is asked
    new RegExp(readable, 'u');
  } catch (error) {
    throw new ConstraintError(`${error instanceof Error ? error.message : String(error)}.`);
  }
  const terminal = { ignoreCase: flags.includes('i'), dotAll: flags.includes('s') };
  return regexGrammar(readable, { terminal });
}

/** Named groups, needless escapes and lone braces, which JavaScript takes in its own way or not at all. */
function inJavaScript(pattern: string): string {
  const parts = pattern.replaceAll('(?P<', '(?<').match(/\\.|\{\d*,?\d*\}|./gsu) ?? [];
  let inClass = false;
  let atStart = false;
  return parts
    .map((part) => {
      const isFirst = atStart;
      atStart = false;
      if (/^\\[^\w^$\\.*+?()[\]{}|/-]$/u.test(part)) return part.slice(1);
      if (part === '\\-') return inClass ? part : '-';
      if (part === '[' && !inClass) {
        inClass = true;
        atStart = true;
      } else if (part === '^' && isFirst) atStart = true;
      else if (part === ']' && isFirst) return '\\]';
      else if (part === ']' && inClass) inClass = false;
      else if (inClass && part === '[') return '\\[';
      else if (!inClass && ['{', '}', ']', '{}', '{,}'].includes(part))
        return part.replaceAll(/[{}\]]/g, '\\$&');
      else if (!inClass && /^\{,\d+\}$/.test(part)) return `{0${part.slice(1)}`;
      return part;
    })
    .join('');
}
