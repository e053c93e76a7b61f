/** Gives a parameter that has another name in OPEA's reference the name that it has here; the name here wins. */
export function inNamesOfHere(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { index_name, ...rest } = fields;
  if (index_name === undefined || index_name === null || index_name === '') return rest;
  return { ...rest, collection: rest['collection'] ?? index_name };
}
