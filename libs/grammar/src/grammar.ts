import { characterSet, subtract, type CharacterSet } from './regex/character-set.js';

/**
 * A piece of a context-free grammar over characters. Whatever a constraint is written in (JSON Schema, regular
 * expression, EBNF, choices) becomes this first, so that its limits and errors are ours.
 */
export type GrammarNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'characters'; readonly set: CharacterSet }
  | { readonly kind: 'sequence'; readonly parts: readonly GrammarNode[] }
  /** One of the options; without any, nothing at all fits. */
  | { readonly kind: 'choice'; readonly options: readonly GrammarNode[] }
  /** `max` may be Infinity. */
  | { readonly kind: 'repeat'; readonly item: GrammarNode; readonly min: number; readonly max: number }
  | { readonly kind: 'rule'; readonly name: string };

/** Rules by name; the names are made of letters, digits and underscores. */
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

/** The nodes directly below. */
export function childrenOf(node: GrammarNode): readonly GrammarNode[] {
  if (node.kind === 'sequence') return node.parts;
  if (node.kind === 'choice') return node.options;
  return node.kind === 'repeat' ? [node.item] : [];
}

/** The node with other nodes directly below. */
export function mapChildren(node: GrammarNode, change: (child: GrammarNode) => GrammarNode): GrammarNode {
  if (node.kind === 'sequence') return { ...node, parts: node.parts.map(change) };
  if (node.kind === 'choice') return { ...node, options: node.options.map(change) };
  return node.kind === 'repeat' ? { ...node, item: change(node.item) } : node;
}

/** The node with a prefix on the names of all rules in it. */
export function withPrefix(node: GrammarNode, prefix: string): GrammarNode {
  if (node.kind === 'rule') return rule(`${prefix}${node.name}`);
  return mapChildren(node, (child) => withPrefix(child, prefix));
}

/** Control characters but tab and the ends of lines. No constrained answer has them. */
const controls = characterSet([0, 8], [0x0b, 0x0c], [0x0e, 0x1f]);

/** The characters that a constrained answer can write. */
function writable(set: CharacterSet): CharacterSet {
  return subtract(set, controls);
}

/** Whether a constrained answer can write all of a text. */
export function isWritable(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- they are what it looks for
  return !/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text);
}

/** A constraint that cannot be honoured as it stands, and why; `path` leads to the place within it. */
export class ConstraintError extends Error {
  override readonly name = 'ConstraintError';

  constructor(
    readonly reason: string,
    readonly path: readonly (string | number)[] = [],
  ) {
    super(reason);
  }
}

/** Characters of the longest grammar or expression: far beyond any in use, and read at once. */
const longestSource = 65_536;

/** Refuses a grammar or an expression that takes too long to read. Throws ConstraintError. */
export function assertReadable(source: string): void {
  if (source.length > longestSource)
    throw new ConstraintError(`It has ${source.length} characters; ${longestSource} are allowed.`);
}
