const longest = 128;

/** Who a request says it comes from, for the access log: OpenAI's `safety_identifier`, and `user`, which came before it. */
export function callerLabels(body: unknown): { user?: string; safety_identifier?: string } {
  const named = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const labels = ['user', 'safety_identifier'].flatMap((name) => {
    const value = named[name];
    return typeof value === 'string' && value !== '' ? [[name, value.slice(0, longest)]] : [];
  });
  return Object.fromEntries(labels) as ReturnType<typeof callerLabels>;
}
