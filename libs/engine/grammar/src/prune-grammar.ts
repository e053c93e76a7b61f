import { ConstraintError, childrenOf, type Grammar, type GrammarNode } from './grammar.js';

/** Limits of the size of one constraint. */
const maxNodes = 20_000;
const maxRules = 2000;
/** Maximum depth, because grammars are traversed recursively. */
const maxNesting = 60;

/**
 * Removes unused rules and every option that cannot end, such as a list that requires another list of its kind: from
 * such an option a completion could never finish. Throws ConstraintError if nothing is left, or if the grammar is too
 * large.
 */
export function pruneGrammar({ root, rules }: Grammar): Grammar {
  checkSize([root, ...rules.values()]);
  const finite = finiteRules(rules);
  const keep = (node: GrammarNode) => pruneNode(node, finite);
  const pruned = keep(root);
  if (!pruned) throw new ConstraintError('Nothing can satisfy it.');
  const kept = new Map<string, GrammarNode>();
  for (const [name, node] of rules) {
    const left = finite.has(name) && keep(node);
    if (left) kept.set(name, left);
  }
  return { root: pruned, rules: usedRules(pruned, kept) };
}

function checkSize(nodes: readonly GrammarNode[]): void {
  if (nodes.length > maxRules) throw new ConstraintError(`It is too large: over ${maxRules} parts.`);
  let count = 0;
  const visit = (node: GrammarNode, depth: number) => {
    if (depth > maxNesting) throw new ConstraintError(`It is nested deeper than ${maxNesting} levels.`);
    if (++count > maxNodes) throw new ConstraintError(`It is too large: over ${maxNodes} pieces.`);
    for (const child of childrenOf(node)) visit(child, depth + 1);
  };
  for (const node of nodes) visit(node, 0);
}

/** Returns the names of the rules that match at least one finite text. */
function finiteRules(rules: ReadonlyMap<string, GrammarNode>): Set<string> {
  const finite = new Set<string>();
  for (let size = -1; size < finite.size;) {
    size = finite.size;
    for (const [name, node] of rules) if (!finite.has(name) && isFinite(node, finite)) finite.add(name);
  }
  return finite;
}

function isFinite(node: GrammarNode, finite: ReadonlySet<string>): boolean {
  switch (node.kind) {
    case 'text':
      return true;
    case 'characters':
      return node.set.length > 0;
    case 'sequence':
      return node.parts.every((part) => isFinite(part, finite));
    case 'choice':
      return node.options.some((option) => isFinite(option, finite));
    case 'repeat':
      return node.min === 0 || isFinite(node.item, finite);
    default:
      return finite.has(node.name);
  }
}

function pruneNode(node: GrammarNode, finite: ReadonlySet<string>): GrammarNode | undefined {
  if (!isFinite(node, finite)) return undefined;
  if (node.kind === 'choice') {
    const options = node.options.flatMap((option) => pruneNode(option, finite) ?? []);
    return { kind: 'choice', options };
  }
  if (node.kind === 'sequence') {
    return { kind: 'sequence', parts: node.parts.map((part) => pruneNode(part, finite)!) };
  }
  if (node.kind !== 'repeat') return node;
  const item = pruneNode(node.item, finite);
  return item ? { ...node, item } : { kind: 'text', text: '' };
}

function usedRules(root: GrammarNode, rules: ReadonlyMap<string, GrammarNode>): Map<string, GrammarNode> {
  const used = new Map<string, GrammarNode>();
  const pending = [root];
  for (let node = pending.pop(); node; node = pending.pop()) {
    if (node.kind === 'rule' && !used.has(node.name)) {
      used.set(node.name, rules.get(node.name)!);
      pending.push(rules.get(node.name)!);
    } else pending.push(...childrenOf(node));
  }
  return used;
}
