import { characterSet, subtract, type CharacterSet } from './regex/character-set.js';

/**
 * A node of a context-free grammar over characters. Constraints of every form (JSON Schema, regular expression, EBNF,
 * choices) are converted to it, so that the same limits and errors apply to all of them.
 */
export type GrammarNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'characters'; readonly set: CharacterSet }
  | { readonly kind: 'sequence'; readonly parts: readonly GrammarNode[] }
  /** One of the options; without options it matches nothing, not even the empty text. */
  | { readonly kind: 'choice'; readonly options: readonly GrammarNode[] }
  /** `max` may be Infinity. */
  | { readonly kind: 'repeat'; readonly item: GrammarNode; readonly min: number; readonly max: number }
  | { readonly kind: 'rule'; readonly name: string };

/** A root and rules by name; names consist of letters, digits and underscores. */
export interface Grammar {
  readonly root: GrammarNode;
  readonly rules: ReadonlyMap<string, GrammarNode>;
}

const nothing: GrammarNode = { kind: 'choice', options: [] };

export function text(value: string): GrammarNode {
  return isWritable(value) ? { kind: 'text', text: value } : nothing;
}

export function characters(set: CharacterSet): GrammarNode {
  return { kind: 'characters', set: writable(set) };
}

export function sequence(...parts: GrammarNode[]): GrammarNode {
  return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
}

export function choice(...options: GrammarNode[]): GrammarNode {
  return options.length === 1 ? options[0]! : { kind: 'choice', options };
}

export function repeat(item: GrammarNode, min: number, max = Number.POSITIVE_INFINITY): GrammarNode {
  return { kind: 'repeat', item, min, max };
}

export function optional(item: GrammarNode): GrammarNode {
  return repeat(item, 0, 1);
}

export function rule(name: string): GrammarNode {
  return { kind: 'rule', name };
}

/** Returns the children of a node. */
export function childrenOf(node: GrammarNode): readonly GrammarNode[] {
  if (node.kind === 'sequence') return node.parts;
  if (node.kind === 'choice') return node.options;
  return node.kind === 'repeat' ? [node.item] : [];
}

/** Returns a copy of the node with changed children. */
export function mapChildren(node: GrammarNode, change: (child: GrammarNode) => GrammarNode): GrammarNode {
  if (node.kind === 'sequence') return { ...node, parts: node.parts.map(change) };
  if (node.kind === 'choice') return { ...node, options: node.options.map(change) };
  return node.kind === 'repeat' ? { ...node, item: change(node.item) } : node;
}

/** Returns a copy of the node in which all rule names have a prefix. */
export function withPrefix(node: GrammarNode, prefix: string): GrammarNode {
  if (node.kind === 'rule') return rule(`${prefix}${node.name}`);
  return mapChildren(node, (child) => withPrefix(child, prefix));
}

/** Control characters except tab and line ends. Constrained completions cannot contain them. */
const controls = characterSet([0, 8], [0x0b, 0x0c], [0x0e, 0x1f]);

/** Returns the characters of a set that constrained completions can contain. */
function writable(set: CharacterSet): CharacterSet {
  return subtract(set, controls);
}

/** Returns true if a constrained completion can contain the text. */
export function isWritable(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- they are what it looks for
  return !/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text);
}

/** A constraint is invalid or not supported; `path` is the position of the problem in it. */
export class ConstraintError extends Error {
  override readonly name = 'ConstraintError';

  constructor(
    readonly reason: string,
    readonly path: readonly (string | number)[] = [],
  ) {
    super(reason);
  }
}

/** Maximum characters of a grammar or expression: more than any in use, and still fast to parse. */
const maxSourceLength = 65_536;

/** Refuses a grammar or an expression that is too long. Throws ConstraintError. */
export function assertReadable(source: string): void {
  if (source.length > maxSourceLength)
    throw new ConstraintError(`It has ${source.length} characters; the maximum is ${maxSourceLength}.`);
}
