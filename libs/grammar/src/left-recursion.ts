import { ConstraintError } from './constraint-error.js';
import { childrenOf, choice, repeat, sequence, type Grammar, type GrammarNode } from './grammar.js';

/** Nodes of the rules once they are rewritten. */
const mostRewritten = 20_000;

/**
 * The same texts by rules of which none begins with itself: `sum: sum "+" term | term` becomes `sum: term ("+" term)*`. Throws
 * ConstraintError where a rule begins with itself behind something that may be empty.
 */
export function withoutLeftRecursion(grammar: Grammar, isNullable: (node: GrammarNode) => boolean): Grammar {
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

function namesAtStart(node: GrammarNode, isNullable: (node: GrammarNode) => boolean): Set<string> {
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

/** Rules that begin with each other. */
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

type Option = readonly GrammarNode[];

/** Each rule begins with rules behind it in the group only, and no longer with itself. */
function rewrite(
  group: readonly string[],
  rules: Map<string, GrammarNode>,
  isNullable: (node: GrammarNode) => boolean,
): void {
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
        if (nodes > mostRewritten)
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

/** The ways to read a node, as far as they begin with a rule of the group. */
function optionsOf(
  node: GrammarNode,
  group: ReadonlySet<string>,
  isNullable: (node: GrammarNode) => boolean,
): Option[] {
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
