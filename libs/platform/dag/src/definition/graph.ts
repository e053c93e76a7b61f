/** Direct predecessors of each node, by name. */
export type Predecessors = ReadonlyMap<string, readonly string[]>;

/** Returns a cycle as the names along it, with the first repeated at the end; undefined if there is not any. */
export function findCycle(predecessors: Predecessors): string[] | undefined {
  const finished = new Set<string>();
  const path: string[] = [];
  const visit = (node: string): string[] | undefined => {
    if (finished.has(node)) return undefined;
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    path.push(node);
    for (const before of predecessors.get(node) ?? []) {
      const cycle = visit(before);
      if (cycle) return cycle;
    }
    path.pop();
    finished.add(node);
    return undefined;
  };
  for (const node of predecessors.keys()) {
    const cycle = visit(node);
    if (cycle) return cycle.toReversed();
  }
  return undefined;
}

/** Returns the names in topological order. The graph must not have a cycle. */
export function sortTopologically(predecessors: Predecessors): string[] {
  const sorted = new Set<string>();
  const visit = (node: string): void => {
    if (sorted.has(node)) return;
    for (const before of predecessors.get(node) ?? []) visit(before);
    sorted.add(node);
  };
  for (const node of predecessors.keys()) visit(node);
  return [...sorted];
}

/**
 * Returns the ancestors of a node by distance: element 0 is the direct predecessors. Each name appears only at its
 * minimum distance.
 */
export function ancestorLevels(predecessors: Predecessors, node: string): string[][] {
  const seen = new Set<string>();
  const levels: string[][] = [];
  let level = [...new Set(predecessors.get(node))];
  while (level.length > 0) {
    levels.push(level);
    for (const name of level) seen.add(name);
    const next = level.flatMap((name) => predecessors.get(name) ?? []);
    level = [...new Set(next)].filter((name) => !seen.has(name));
  }
  return levels;
}

/** Returns the direct followers of each node. */
export function followersOf(predecessors: Predecessors): Map<string, string[]> {
  const followers = new Map<string, string[]>([...predecessors.keys()].map((name) => [name, []]));
  for (const [node, before] of predecessors) {
    for (const name of before) followers.get(name)?.push(node);
  }
  return followers;
}
