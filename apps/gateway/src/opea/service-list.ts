import type { MegaServiceDefinition } from '#dag';

/** The endpoints that every gateway has beside its mega services. */
const fixedEndpoints: Readonly<Record<string, { description: string; body: unknown }>> = {
  '/v1/chat/completions': {
    description: 'Chat in the form of the OpenAI API; without a model the documents are searched and cited.',
    body: { messages: [{ role: 'user', content: 'What does MegaNest do?' }] },
  },
  '/v1/embeddings': { description: 'Turns texts into vectors.', body: { input: 'What does MegaNest do?' } },
};

interface ServiceEntry {
  path: string;
  name: string;
  description: string;
  request: string;
}

/** The specification's map of path to description; each description ends in a request to paste. */
export function describeServices(
  definitions: readonly MegaServiceDefinition[],
  baseUrl: string,
): Record<string, string> {
  return Object.fromEntries(
    entries(definitions, baseUrl).map(({ path, description, request }) => [
      path,
      `${description} Try: ${request}`,
    ]),
  );
}

/** The same as objects, with the nodes of each mega service. */
export function describeServicesVerbosely(definitions: readonly MegaServiceDefinition[], baseUrl: string) {
  const nodesOf = (name: string) =>
    [...(definitions.find((definition) => definition.name === name)?.nodes.values() ?? [])].map((node) => ({
      node: node.name,
      service: node.target.service,
      after: node.after,
      optional: node.optional,
    }));
  return {
    services: entries(definitions, baseUrl).map((entry) => ({ ...entry, nodes: nodesOf(entry.name) })),
  };
}

const defaultExample = { messages: 'What does MegaNest do?' };

function entries(definitions: readonly MegaServiceDefinition[], baseUrl: string): ServiceEntry[] {
  const fixed = Object.entries(fixedEndpoints).map(([path, { description, body }]) => ({
    path,
    name: path,
    description,
    request: curl(baseUrl, path, body),
  }));
  const own = definitions.flatMap(({ name, path, description, example = defaultExample }) =>
    path ? [{ path, name, description, request: curl(baseUrl, path, example) }] : [],
  );
  const taken = new Set(own.map(({ path }) => path));
  return [...fixed.filter(({ path }) => !taken.has(path)), ...own];
}

function curl(baseUrl: string, path: string, body: unknown): string {
  return `curl ${baseUrl}${path} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}
