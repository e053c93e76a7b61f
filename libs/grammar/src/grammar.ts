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

export const nothing: GrammarNode = { kind: 'choice', options: [] };

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

/** The node with a prefix on the names of all rules in it. */
export function withPrefix(node: GrammarNode, prefix: string): GrammarNode {
  switch (node.kind) {
    case 'rule':
      return { kind: 'rule', name: `${prefix}${node.name}` };
    case 'sequence':
      return { ...node, parts: node.parts.map((part) => withPrefix(part, prefix)) };
    case 'choice':
      return { ...node, options: node.options.map((option) => withPrefix(option, prefix)) };
    case 'repeat':
      return { ...node, item: withPrefix(node.item, prefix) };
    default:
      return node;
  }
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
