import { MegaNestError, type RetrievedDocument } from '#platform/contracts';
import { fetchForUsers, refusalOfUrl } from '#platform/service-kit';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineTool, type McpTool } from './mcp-tool.js';

/** The search endpoint of the operator. */
export interface WebSearchEndpoint {
  /** With a key Brave's form (`https://api.search.brave.com/res/v1/web/search`), otherwise SearXNG's (`…/search`). */
  url: string;
  key?: string | undefined;
}

const timeoutMs = 10_000;
const maxBytes = 2 * 2 ** 20;
/** Characters of the text of a result. */
const maxText = 2_000;

const input = z.strictObject({
  query: z.string().min(1).max(400).describe('What to search for, in a few words'),
  max_results: z.int().min(1).max(20).default(5),
});

const resultSchema = z.object({ url: z.string(), title: z.string(), text: z.string() });
type WebResult = z.output<typeof resultSchema>;

/** The answers of SearXNG and of Brave. */
const answerSchema = z.looseObject({
  results: z.array(z.unknown()).optional(),
  web: z.looseObject({ results: z.array(z.unknown()).optional() }).nullish(),
});
const entrySchema = z.looseObject({
  url: z.string(),
  title: z.string().nullish(),
  content: z.string().nullish(),
  description: z.string().nullish(),
});

/** The tool `web_search`: finds pages by the operator's search endpoint. It does not read the pages. */
export function webSearchTool(endpoint: WebSearchEndpoint): McpTool {
  return defineTool({
    name: 'web_search',
    title: 'Search the web',
    description: 'Finds pages of the web, with their address, title and a short text, best first.',
    input,
    output: z.object({ results: z.array(resultSchema) }),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    scope: 'read',
    run: async ({ query, max_results: max }, { call, numbered = 0 }) => {
      const results = (await search(endpoint, query, max, call.signal)).slice(0, max);
      const documents = results.map(asDocument);
      const lines = results.map(
        ({ url, title, text }, index) => `[${numbered + index + 1}] ${title} (${url})\n${text}`,
      );
      const text = lines.length === 0 ? 'Nothing was found.' : lines.join('\n\n');
      return { text, structured: { results }, documents };
    },
  });
}

/** Errors: service_unavailable. */
async function search(
  { url, key }: WebSearchEndpoint,
  query: string,
  max: number,
  callSignal: AbortSignal,
): Promise<WebResult[]> {
  const target = new URL(url);
  target.searchParams.set('q', query);
  if (key === undefined) target.searchParams.set('format', 'json');
  else target.searchParams.set('count', `${max}`);
  // The operator names the endpoint, which may be in the own network. It must not lead elsewhere.
  const owned = fetchForUsers(true, { maxBytes });
  try {
    const signal = AbortSignal.any([callSignal, AbortSignal.timeout(timeoutMs)]);
    const headers = { accept: 'application/json', ...(key !== undefined && { 'x-subscription-token': key }) };
    const response = await owned.fetch(target.href, { headers, signal, redirect: 'error' });
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    return readResults(await response.json());
  } catch (error) {
    callSignal.throwIfAborted();
    const detail = error instanceof Error ? error.message : String(error);
    throw new MegaNestError('service_unavailable', { service: 'web search', detail });
  } finally {
    await owned.close();
  }
}

/** Results with a public address: others are of no use to a reader, and may point into the own network. */
export function readResults(answer: unknown): WebResult[] {
  const { results, web } = answerSchema.parse(answer);
  return (results ?? web?.results ?? []).flatMap((entry) => {
    const { success, data } = entrySchema.safeParse(entry);
    if (!success || refusalOfUrl(data.url, false) !== undefined) return [];
    const { url, title, content, description } = data;
    const text = plain(content ?? description ?? '').slice(0, maxText);
    return [{ url, title: plain(title ?? '') || url, text }];
  });
}

/** Without the marks of HTML that engines put around the words of the query. */
function plain(text: string): string {
  return text
    .replaceAll(/<\/?[a-z][^>]{0,200}>/gi, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function asDocument({ url, title, text }: WebResult, index: number): RetrievedDocument {
  const id = `web-${createHash('sha256').update(url).digest('hex').slice(0, 24)}`;
  return { id, text: text || title, score: 1 / (index + 1), metadata: { source: url, title } };
}
