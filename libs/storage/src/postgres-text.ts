/** Text as Postgres takes it: without NUL characters and lone surrogates, which extracted PDF text may hold. */
export function toPostgresText(text: string): string {
  return text.replaceAll('\0', '').replaceAll(/\p{Surrogate}/gu, '\u{FFFD}');
}

/** JSON for a jsonb parameter, every string in it cleaned as by {@link toPostgresText}. */
export function toPostgresJson(value: unknown): string {
  return JSON.stringify(cleanStrings(value));
}

function cleanStrings(value: unknown): unknown {
  if (typeof value === 'string') return toPostgresText(value);
  if (Array.isArray(value)) return value.map(cleanStrings);
  if (value instanceof Date || value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, entry]) => [toPostgresText(key), cleanStrings(entry)]);
  return Object.fromEntries(entries) as unknown;
}
