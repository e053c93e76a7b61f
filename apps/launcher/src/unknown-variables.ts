import { EnvironmentError } from '#service-kit';

/** Names shorter than this are near to too many others. */
const leastLength = 6;

/** Letters to insert, delete, replace or swap with their neighbor to make one word of the other. */
function editDistance(one: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const same = one[row - 1] === other[column - 1];
      const swapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      line[column] = Math.min(
        rows[row - 1]![column]! + 1,
        line[column - 1]! + 1,
        rows[row - 1]![column - 1]! + (same ? 0 : 1),
        swapped ? rows[row - 2]![column - 2]! + 1 : Infinity,
      );
    }
    rows.push(line);
  }
  return rows[one.length]![other.length]!;
}

/** The known name that needs the fewest letters changed; undefined where none is within `most`. */
function nearestName(name: string, known: readonly string[], most: number): string | undefined {
  const candidates = known
    .filter((candidate) => Math.abs(candidate.length - name.length) <= most)
    .map((candidate) => ({ candidate, distance: editDistance(name.toUpperCase(), candidate) }))
    .filter(({ distance }) => distance <= most)
    .toSorted((one, other) => one.distance - other.distance);
  return candidates[0]?.candidate;
}

/** Names of MegaNest's own prefix that it does not know. Errors: EnvironmentError with the nearest known name of each. */
export function refuseUnknown(variables: NodeJS.ProcessEnv, known: readonly string[]): void {
  const own = known.filter((name) => name.startsWith('MEGANEST_'));
  const unknown = Object.keys(variables).filter(
    (name) => name.toUpperCase().startsWith('MEGANEST_') && !known.includes(name),
  );
  if (unknown.length === 0) return;
  const lines = unknown.map((name) => {
    const nearest = nearestName(name, own, Math.ceil(name.length / 3));
    const advice = nearest ? `Did you mean ${nearest}?` : `Known are ${own.join(', ')}.`;
    return `${name}: unknown variable. ${advice}`;
  });
  throw new EnvironmentError(lines.join('\n'));
}

/**
 * A warning for each variable that is one or two letters away from one of MegaNest's. It may belong to another program, so it
 * is not refused.
 */
export function describeMisspelt(variables: NodeJS.ProcessEnv, known: readonly string[]): string[] {
  return Object.entries(variables).flatMap(([name, value]) => {
    if (!value || known.includes(name) || name.length < leastLength) return [];
    const nearest = nearestName(name, known, name.length < 10 ? 1 : 2);
    if (!nearest || variables[nearest]) return [];
    return [`${name} is not a variable of MegaNest and has no effect. Did you mean ${nearest}?`];
  });
}
