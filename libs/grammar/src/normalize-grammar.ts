import type { CharacterSet } from './regex/character-set.js';
import { ConstraintError } from './constraint-error.js';
import { choice, sequence, text, type Grammar, type GrammarNode } from './grammar.js';
import { withoutLeftRecursion } from './left-recursion.js';

/** Ranges of all sets of characters, and how deep texts are taken apart. */
const mostRanges = 20_000;
const deepestSharing = 40;

/**
 * The same texts by a grammar that is followed without detours: no rule begins with itself, what may be empty is repeated from
 * 0 times on, and texts that begin alike share their beginning. Throws ConstraintError for recursion that cannot be rewritten.
 */
export function normalizeGrammar(grammar: Grammar): Grammar {
  const nullable = nullableRules(grammar.rules);
  const isNullable = (node: GrammarNode) => isEmptyable(node, nullable);
  const { root, rules } = withoutLeftRecursion(grammar, isNullable);
  const sets = new SharedSets();
  const normal = (node: GrammarNode) => normalize(node, isNullable, sets);
  return { root: normal(root), rules: new Map([...rules].map(([name, node]) => [name, normal(node)])) };
}

function nullableRules(rules: ReadonlyMap<string, GrammarNode>): Set<string> {
  const nullable = new Set<string>();
  for (let size = -1; size < nullable.size;) {
    size = nullable.size;
    for (const [name, node] of rules)
      if (!nullable.has(name) && isEmptyable(node, nullable)) nullable.add(name);
  }
  return nullable;
}

function isEmptyable(node: GrammarNode, nullable: ReadonlySet<string>): boolean {
  switch (node.kind) {
    case 'text':
      return node.text === '';
    case 'characters':
      return false;
    case 'sequence':
      return node.parts.every((part) => isEmptyable(part, nullable));
    case 'choice':
      return node.options.some((option) => isEmptyable(option, nullable));
    case 'repeat':
      return node.min === 0 || isEmptyable(node.item, nullable);
    default:
      return nullable.has(node.name);
  }
}

/** The sets of characters of a grammar, equal ones once. */
class SharedSets {
  private readonly sets = new Map<string, CharacterSet>();
  private ranges = 0;

  share(set: CharacterSet): CharacterSet {
    const key = set.join(' ');
    const known = this.sets.get(key);
    if (known) return known;
    this.ranges += set.length;
    if (this.ranges > mostRanges)
      throw new ConstraintError(`Its sets of characters are too large: over ${mostRanges} ranges.`);
    this.sets.set(key, set);
    return set;
  }
}

function normalize(
  node: GrammarNode,
  isNullable: (node: GrammarNode) => boolean,
  sets: SharedSets,
): GrammarNode {
  switch (node.kind) {
    case 'sequence':
      return sequence(...node.parts.map((part) => normalize(part, isNullable, sets)));
    case 'choice':
      return withSharedBeginnings(node.options.map((option) => normalize(option, isNullable, sets)));
    case 'repeat': {
      const item = normalize(node.item, isNullable, sets);
      return { ...node, item, min: isNullable(node.item) ? 0 : node.min };
    }
    case 'characters':
      return { kind: 'characters', set: sets.share(node.set) };
    default:
      return node;
  }
}

function withSharedBeginnings(options: readonly GrammarNode[]): GrammarNode {
  const texts = new Set<string>();
  const others: GrammarNode[] = [];
  for (const option of options) {
    if (option.kind === 'text') texts.add(option.text);
    else others.push(option);
  }
  if (texts.size < 2) return choice(...options);
  return choice(...sharedTexts([...texts].toSorted()), ...others);
}

/** Sorted texts, all different, as texts of which no two begin alike, with what may follow them. */
function sharedTexts(sorted: readonly string[], depth = 0): GrammarNode[] {
  const nodes: GrammarNode[] = [];
  for (let from = 0; from < sorted.length;) {
    const head = firstOf(sorted[from]!);
    const other = sorted.findIndex((one, index) => index > from && (head === '' || firstOf(one) !== head));
    const to = other < 0 ? sorted.length : other;
    const group = sorted.slice(from, to);
    if (group.length === 1 || depth === deepestSharing) nodes.push(...group.map(text));
    else {
      const shared = sharedBeginning(group[0]!, group.at(-1)!);
      nodes.push(
        sequence(
          text(shared),
          choice(
            ...sharedTexts(
              group.map((one) => one.slice(shared.length)),
              depth + 1,
            ),
          ),
        ),
      );
    }
    from = to;
  }
  return nodes;
}

function firstOf(given: string): string {
  return given === '' ? '' : String.fromCodePoint(given.codePointAt(0)!);
}

/** Of sorted texts the first and the last differ the earliest. */
function sharedBeginning(first: string, last: string): string {
  let end = 0;
  while (end < first.length && first[end] === last[end]) end++;
  const cutsPair = end > 0 && /[\ud800-\udbff]/.test(first[end - 1]!);
  return first.slice(0, cutsPair ? end - 1 : end);
}
