import {
  ConstraintError,
  choice,
  sequence,
  text,
  type Grammar,
  type GrammarNode,
  childrenOf,
  repeat,
} from './grammar.js';
import type { CharacterSet } from './regex/character-set.js';

/** Maximum number of ranges of all character sets, and maximum depth of shared prefixes. */
const maxRanges = 20_000;
const maxSharingDepth = 40;

/** Maximum number of nodes of the rewritten rules. */
const maxRewritten = 20_000;

type Option = readonly GrammarNode[];
type NodeTest = (node: GrammarNode) => boolean;

/**
 * Returns an equivalent grammar that is fast to match: without left recursion, with 0 as the minimum of repetitions of
 * nullable items, and with shared prefixes of texts. Throws ConstraintError for recursion that cannot be rewritten.
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

/** The character sets of a grammar, without duplicates. */
class SharedSets {
  private readonly sets = new Map<string, CharacterSet>();
  private ranges = 0;

  share(set: CharacterSet): CharacterSet {
    const key = set.join(' ');
    const known = this.sets.get(key);
    if (known) return known;
    this.ranges += set.length;
    if (this.ranges > maxRanges)
      throw new ConstraintError(`Its sets of characters are too large: over ${maxRanges} ranges.`);
    this.sets.set(key, set);
    return set;
  }
}

function normalize(node: GrammarNode, isNullable: NodeTest, sets: SharedSets): GrammarNode {
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

/** Converts sorted distinct texts to nodes in which texts with the same first character share their prefix. */
function sharedTexts(sorted: readonly string[], depth = 0): GrammarNode[] {
  const nodes: GrammarNode[] = [];
  for (let from = 0; from < sorted.length;) {
    const head = firstOf(sorted[from]!);
    const other = sorted.findIndex((one, index) => index > from && (head === '' || firstOf(one) !== head));
    const to = other < 0 ? sorted.length : other;
    const group = sorted.slice(from, to);
    if (group.length === 1 || depth === maxSharingDepth) nodes.push(...group.map(text));
    else {
      const shared = sharedBeginning(group[0]!, group.at(-1)!);
      const rests = group.map((one) => one.slice(shared.length));
      nodes.push(sequence(text(shared), choice(...sharedTexts(rests, depth + 1))));
    }
    from = to;
  }
  return nodes;
}

function firstOf(given: string): string {
  return given === '' ? '' : String.fromCodePoint(given.codePointAt(0)!);
}

/** Returns the common prefix of sorted texts, which is the common prefix of the first and the last. */
function sharedBeginning(first: string, last: string): string {
  let end = 0;
  while (end < first.length && first[end] === last[end]) end++;
  const cutsPair = end > 0 && /[\ud800-\udbff]/.test(first[end - 1]!);
  return first.slice(0, cutsPair ? end - 1 : end);
}

/**
 * Removes left recursion: `sum: sum "+" term | term` becomes `sum: term ("+" term)*`. Throws ConstraintError if a rule
 * begins with itself after something that may be empty.
 */
function withoutLeftRecursion(grammar: Grammar, isNullable: NodeTest): Grammar {
  const first = new Map<string, Set<string>>();
  for (const [name, node] of grammar.rules) first.set(name, namesAtStart(node, isNullable));
  const recursive = [...grammar.rules.keys()].filter((name) => reaches(first, name, name));
  if (recursive.length === 0) return grammar;
  const rules = new Map(grammar.rules);
  for (const group of groupsOf(recursive, first)) rewrite(group, rules, isNullable);
  const rewritten = { root: grammar.root, rules };
  for (const [name, node] of rules) first.set(name, namesAtStart(node, isNullable));
  const left = [...rules.keys()].find((name) => reaches(first, name, name));
  if (left !== undefined)
    throw new ConstraintError(`The rule "${left}" begins with itself behind something that may be empty.`);
  return rewritten;
}

function namesAtStart(node: GrammarNode, isNullable: NodeTest): Set<string> {
  const names = new Set<string>();
  const pending = [node];
  for (let one = pending.pop(); one; one = pending.pop()) {
    if (one.kind === 'rule') names.add(one.name);
    else if (one.kind === 'sequence') {
      for (const part of one.parts) {
        pending.push(part);
        if (!isNullable(part)) break;
      }
    } else if (one.kind !== 'repeat' || one.max > 0) pending.push(...childrenOf(one));
  }
  return names;
}

function reaches(first: ReadonlyMap<string, ReadonlySet<string>>, from: string, to: string): boolean {
  const seen = new Set<string>();
  const pending = [...(first.get(from) ?? [])];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === to) return true;
    if (seen.has(name)) continue;
    seen.add(name);
    pending.push(...(first.get(name) ?? []));
  }
  return false;
}

/** Groups rules that begin with each other. */
function groupsOf(names: readonly string[], first: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const left = new Set(names);
  const groups: string[][] = [];
  for (const name of names) {
    if (!left.has(name)) continue;
    const group = [...left].filter(
      (other) => other === name || (reaches(first, name, other) && reaches(first, other, name)),
    );
    for (const member of group) left.delete(member);
    groups.push(group);
  }
  return groups;
}

/** Rewrites the rules of a group so that each begins only with later rules of the group, not with itself. */
function rewrite(group: readonly string[], rules: Map<string, GrammarNode>, isNullable: NodeTest): void {
  let nodes = 0;
  group.forEach((name, index) => {
    const before = new Set(group.slice(0, index));
    const members = new Set(group);
    let options = optionsOf(rules.get(name)!, members, isNullable);
    for (let changed = true; changed;) {
      changed = false;
      options = options.flatMap((option) => {
        const [head, ...rest] = option;
        if (head?.kind !== 'rule' || !before.has(head.name)) return [option];
        changed = true;
        const substituted = optionsOf(rules.get(head.name)!, members, isNullable);
        nodes += substituted.length;
        if (nodes > maxRewritten)
          throw new ConstraintError('Its rules begin with each other in too many ways.');
        return substituted.map((own) => [...own, ...rest]);
      });
    }
    const isOwn = ([head]: Option) => head?.kind === 'rule' && head.name === name;
    const begins = options.filter((option) => !isOwn(option)).map((option) => sequence(...option));
    const goesOn = options.filter(isOwn).map(([, ...rest]) => sequence(...rest));
    const start = choice(...begins);
    rules.set(name, goesOn.length === 0 ? start : sequence(start, repeat(choice(...goesOn), 0)));
  });
}

/** Splits a node into options, so that each shows whether it begins with a rule of the group. */
function optionsOf(node: GrammarNode, group: ReadonlySet<string>, isNullable: NodeTest): Option[] {
  const beginsInGroup = [...namesAtStart(node, isNullable)].some((name) => group.has(name));
  if (!beginsInGroup || node.kind === 'rule') return [[node]];
  if (node.kind === 'choice') return node.options.flatMap((option) => optionsOf(option, group, isNullable));
  if (node.kind === 'sequence') {
    const [head, ...rest] = node.parts;
    return optionsOf(head!, group, isNullable).map((option) => [...option, ...rest]);
  }
  if (node.kind === 'repeat' && node.min === 0) {
    const once = optionsOf({ ...node, min: 1 }, group, isNullable);
    return [[], ...once];
  }
  if (node.kind === 'repeat') {
    const more = repeat(node.item, node.min - 1, node.max - 1);
    return optionsOf(node.item, group, isNullable).map((option) =>
      node.max === 1 ? option : [...option, more],
    );
  }
  return [[node]];
}
