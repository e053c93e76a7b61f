/** Completions of each client that a pass has at least, because a wider pass costs little more than a narrow one. */
const minOfOne = 4;

/**
 * The completions of the next pass. One client has all of its own. Of several clients each has as many as the client
 * with the fewest, but four at least: so that a client with many completions does not make the passes of others slow. The
 * completions of a client take turns by their latest pass.
 */
export function inFairPass<Active extends { readonly completion: object }>(
  active: readonly Active[],
  clientOf: (one: Active) => string,
  latest: { get(completion: Active['completion']): number | undefined },
): readonly Active[] {
  const clients = new Map<string, Active[]>();
  for (const one of active) clients.set(clientOf(one), [...(clients.get(clientOf(one)) ?? []), one]);
  if (clients.size < 2) return active;
  const most = Math.max(minOfOne, Math.min(...[...clients.values()].map(({ length }) => length)));
  const passOf = ({ completion }: Active) => latest.get(completion) ?? 0;
  return [...clients.values()].flatMap((own) =>
    own.toSorted((one, other) => passOf(one) - passOf(other)).slice(0, most),
  );
}
