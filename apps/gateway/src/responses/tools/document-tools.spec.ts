import { MegaNestError, type RetrievedDocument } from '#platform/contracts';
import type { ToolStep } from '#api/responses';
import { describe, expect, it } from 'vitest';
import { BuiltInTools } from '../../document-tools/built-in-tools.js';
import type { DocumentReader } from '../../document-tools/document-reader.js';
import type { PassageSearch } from '../../document-tools/search.tool.js';
import { documentToolSources } from './document-tools.js';
import type { OpenedTools, ServerTool, ServerToolSource, ToolContext } from './server-tool.js';

const passage: RetrievedDocument = {
  id: 'chunk',
  text: 'It runs on plum juice.',
  score: 0.9,
  metadata: { document_id: 'doc', filename: 'engine.txt', chunk_index: 2 },
};
const asked: unknown[] = [];
const searches = {
  search: (query: unknown) => {
    asked.push(query);
    return Promise.resolve([passage]);
  },
} as unknown as PassageSearch;
const stored = { id: 'chunk', index: 0, text: passage.text, metadata: { heading: 'Fuel' } };
const reader = {
  find: (name: string) =>
    name === 'engine.txt'
      ? Promise.resolve({ id: 'doc', filename: 'engine.txt', chunks: 1 })
      : Promise.reject(new MegaNestError('not_found', { what: `The document ${name}`, param: 'document' })),
  read: () => Promise.resolve([stored]),
  pages: async function* () {
    yield await Promise.resolve([stored]);
  },
} as unknown as DocumentReader;
const sources = documentToolSources(new BuiltInTools(searches, reader, {}));
const source = (type: string): ServerToolSource => sources.find((each) => each.type === type)!;
const context = (scopes?: string[]) =>
  ({
    documents: [passage, passage],
    call: {
      signal: new AbortController().signal,
      origin: 'http://here',
      ...(scopes && { caller: { name: 'bob', scopes: new Set(scopes) } }),
    },
  }) as unknown as ToolContext;

async function opened(entry: { type: string }, within = context()): Promise<ServerTool> {
  const { value } = await source(entry.type).open(entry, within).next();
  return (value as OpenedTools).tools[0]!;
}

async function calling(entry: { type: string }, input: string) {
  const tool = await opened(entry);
  const steps: ToolStep[] = [];
  const running = tool.call({ id: 'c', name: entry.type, input }, context());
  for (;;) {
    const { value, done } = await running.next();
    if (done) return { steps, outcome: value };
    steps.push(value);
  }
}

describe('documentToolSources', () => {
  it('searches with the collection of the entry, which the model cannot change, and goes on numbering', async () => {
    const entry = { type: 'search', collection: 'engines', max_results: 3 };
    const { definition } = await opened(entry);
    expect(
      Object.keys((definition as unknown as { parameters: { properties: object } }).parameters.properties),
    ).toEqual(['query', 'filter']);
    const { steps, outcome } = await calling(entry, '{"query":"fuel","collection":"secret"}');
    expect(asked.at(-1)).toEqual({ query: 'fuel', collection: 'engines', max_results: 3 });
    expect(outcome.output).toContain('[3] engine.txt');
    expect(outcome.documents).toEqual([passage]);
    expect(steps.map(({ type }) => type)).toEqual([
      'item_added',
      'item_progress',
      'item_arguments',
      'item_progress',
      'item_done',
    ]);
    expect(steps.at(-1)).toMatchObject({
      item: { type: 'mcp_call', server_label: 'meganest', name: 'search', status: 'completed', error: null },
    });
  });

  it('opens a document as a passage to cite, with its address', async () => {
    const { outcome } = await calling({ type: 'open' }, '{"document":"engine.txt"}');
    expect(outcome.output).toMatch(/^\[3\] engine\.txt › Fuel/);
    expect(outcome.documents).toMatchObject([
      {
        id: 'chunk',
        metadata: { document_id: 'doc', filename: 'engine.txt', page_url: 'http://here/#/documents/doc' },
      },
    ]);
  });

  it('finds a pattern', async () => {
    const { outcome } = await calling({ type: 'find' }, '{"document":"engine.txt","pattern":"plum"}');
    expect(outcome.output).toContain('passage 0, Fuel: It runs on plum juice.');
  });

  it('tells the model of an unknown document and of wrong arguments', async () => {
    const unknown = await calling({ type: 'open' }, '{"document":"none.txt"}');
    expect(unknown.outcome.output).toContain('none.txt');
    expect(unknown.steps.at(-1)).toMatchObject({ item: { status: 'failed', output: null } });
    const wrong = await calling({ type: 'find' }, '[1]');
    expect(wrong.outcome.output).toContain('the arguments are not a JSON object');
  });

  it('refuses fields that an entry does not have, and keys without the scope', async () => {
    expect(() => source('find').check({ type: 'find', collection: 'x' }, 'tools[1]')).toThrow('tools[1]');
    await expect(opened({ type: 'search' }, context(['write']))).rejects.toThrow('scope read');
  });
});
