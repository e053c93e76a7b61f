import {
  attributeFilterSchema,
  describeLlmModel,
  errorFromIssues,
  type ChatMessage,
  type ModelInfo,
  type Neighbour,
  type RetrievedDocument,
  type ToolCall,
} from '#platform/contracts';
import { evidenceBlocks, type EvidenceBlock } from '#answers/evidence';
import { RpcClient } from '#platform/messaging';
import {
  newItemId,
  type FileSearchCall,
  type FileSearchResult,
  type ResponseTool,
  type ToolStep,
} from '#api/responses';
import { VectorStoresRepository } from '#platform/storage';
import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { readNeighboursOf } from '../../documents/read-neighbours.js';
import { withAddresses } from '../../mega-services/page-address.js';
import { requireStore } from '../../vector-stores/attached-files.service.js';
import { VectorStoreSearch, type FoundPassage } from '../../vector-stores/vector-store-search.js';
import { rankingOptionsSchema } from '../../vector-stores/vector-store.requests.js';
import type { OpenedTools, ServerTool, ServerToolSource, ToolContext, ToolOutcome } from './server-tool.js';

/** The share of the window for passages, where the model's service does not say how much it reads. */
const windowShare = 1 / 4;

/**
 * `file_search` over vector stores. A model that calls tools searches when it calls the tool. For a model that does not
 * call tools the server searches for the user's question first, and the model answers from the found passages.
 */
@Injectable()
export class FileSearchSource implements ServerToolSource {
  readonly type = 'file_search';
  readonly worksUncalled = true;

  constructor(
    @Inject(VectorStoresRepository) private readonly stores: VectorStoresRepository,
    @Inject(VectorStoreSearch) private readonly searches: VectorStoreSearch,
    @Inject(RpcClient) private readonly rpc: RpcClient,
  ) {}

  check(entry: ResponseTool, param: string): void {
    readFileSearchTool(entry, param);
  }

  /** Errors: not_found for a store of another owner; conflict for an expired store. */
  async *open(entry: ResponseTool, context: ToolContext): AsyncGenerator<ToolStep, OpenedTools, void> {
    const tool = readFileSearchTool(entry, 'tools');
    for (const id of tool.vector_store_ids)
      await requireStore(this.stores, context.owner, id, 'living', 'tools');
    const model = await this.rpc.request(describeLlmModel, {}, context.call);
    if (model.callsTools !== false) return { tools: [this.#serverTool(tool, model)] };
    const question = questionOf(context.messages);
    if (question === '') return { tools: [] };
    const found = yield* this.#search(tool, [question], context);
    const neighbours = await this.#neighboursOf(found, model, context);
    return { tools: [], documents: withAddresses(found.map(toDocument), context.call.origin), neighbours };
  }

  /** The passages around the found ones, with the names of their files. */
  async #neighboursOf(
    found: readonly FoundPassage[],
    { evidence }: ModelInfo,
    { owner, call, degraded }: ToolContext,
  ): Promise<Neighbour[]> {
    const documents = found.map(({ passage }) => passage);
    const reading = { client: this.rpc, options: call, reads: evidence, owner };
    const { neighbours, problem } = await readNeighboursOf(documents, reading);
    if (problem) degraded.add('neighbours');
    const files = new Map(found.map(({ file, passage }) => [passage.metadata['document_id'], file]));
    return neighbours.flatMap((passage) => {
      const file = files.get(passage.metadata['document_id']);
      return file ? [named(passage, file)] : [];
    });
  }

  #serverTool(tool: FileSearchTool, model: ModelInfo): ServerTool {
    const call = (wanted: ToolCall, context: ToolContext) => this.#call(tool, model, wanted, context);
    return { definition: fileSearchDefinition, call };
  }

  async *#call(
    tool: FileSearchTool,
    model: ModelInfo,
    { input }: ToolCall,
    context: ToolContext,
  ): AsyncGenerator<ToolStep, ToolOutcome, void> {
    const queries = readQueries(input);
    if (!queries) return { output: 'The arguments are not {"queries": ["…"]}: nothing was searched.' };
    const found = yield* this.#search(tool, queries, context);
    const blocks = evidenceBlocks({
      found: found.map(toDocument),
      neighbours: await this.#neighboursOf(found, model, context),
      question: queries.join(' '),
      maxTokens: model.evidence?.tokens ?? model.maxInputTokens * windowShare,
    });
    const output = numberedPassages(blocks, context.documents.length);
    return { output, documents: withAddresses(blocks.map(blockDocument), context.call.origin) };
  }

  /** Searches, and shows the search as an item of the response. */
  async *#search(
    tool: FileSearchTool,
    queries: string[],
    { owner, call, include, degraded }: ToolContext,
  ): AsyncGenerator<ToolStep, FoundPassage[], void> {
    const id = newItemId('file_search_call');
    const item: FileSearchCall = {
      id,
      type: 'file_search_call',
      status: 'in_progress',
      queries,
      results: null,
    };
    yield { type: 'item_added', item };
    yield { type: 'item_progress', id, phase: 'in_progress' };
    yield { type: 'item_progress', id, phase: 'searching' };
    const {
      vector_store_ids: storeIds,
      filters,
      max_num_results: maxResults,
      ranking_options: ranking,
    } = tool;
    const search = { owner, storeIds, queries, filters, maxResults, ranking };
    const { found, degraded: steps } = await this.searches.search(search, call);
    for (const step of steps) degraded.add(step);
    const results = include.has('file_search_call.results') ? found.map(toSearchResult) : null;
    yield { type: 'item_progress', id, phase: 'completed' };
    yield { type: 'item_done', item: { ...item, status: 'completed', results } };
    return found;
  }
}

function readQueries(input: string): string[] | undefined {
  try {
    return fileSearchArgumentsSchema.safeParse(JSON.parse(input)).data?.queries;
  } catch {
    return undefined;
  }
}

/** The text of the user's last message; empty without one. */
function questionOf(messages: readonly ChatMessage[]): string {
  return messages.findLast(({ role }) => role === 'user')?.content.trim() ?? '';
}

/** Limit for the stores of one tool; each needs its own search. */
const maxStores = 16;
const defaultRanking = { ranker: 'auto', score_threshold: 0 } as const;

/** An entry of `tools`. Some clients send null in place of an absent field. */
const fileSearchToolSchema = z.strictObject({
  type: z.literal('file_search'),
  vector_store_ids: z.array(z.string().min(1)).min(1).max(maxStores),
  max_num_results: z
    .int()
    .min(1)
    .max(50)
    .nullish()
    .transform((value) => value ?? 10),
  filters: attributeFilterSchema.nullish().transform((value) => value ?? undefined),
  ranking_options: rankingOptionsSchema.nullish().transform((value) => value ?? defaultRanking),
});
type FileSearchTool = z.output<typeof fileSearchToolSchema>;

/** Reads an entry of `tools`. Errors: invalid_request with a path below `param` (`tools[2]`). */
function readFileSearchTool(entry: ResponseTool, param: string): FileSearchTool {
  const result = fileSearchToolSchema.safeParse(entry);
  if (result.success) return result.data;
  throw errorFromIssues(result.error.issues.map((issue) => ({ ...issue, path: [param, ...issue.path] })));
}

/** The arguments of the tool as the model writes them. */
const fileSearchArgumentsSchema = z.object({
  queries: z.array(z.string().min(1).max(4_096)).min(1).max(8),
});

/** The definition of the tool for the model. */
const fileSearchDefinition = {
  type: 'function' as const,
  name: 'file_search',
  description:
    'Searches the files that the user has uploaded and returns numbered passages. Use it whenever the answer may stand ' +
    'in these files. Cite the passages that an answer rests on by their numbers, like [1].',
  parameters: {
    type: 'object',
    properties: {
      queries: {
        type: 'array',
        items: { type: 'string' },
        minItems: 1,
        maxItems: 4,
        description:
          'What to search for: each query a short sentence of its own, in the words of the subject.',
      },
    },
    required: ['queries'],
    additionalProperties: false,
  },
  strict: true,
};

/** OpenAI's limit of a file's attributes. */
const maxAttributes = 16;

/** A passage as a result in a `file_search_call`. */
export function toSearchResult({ file, passage, score }: FoundPassage): FileSearchResult {
  const { fileId, filename } = file;
  const known = { ...file.attributes, ...placeOf(passage), ...file.attributes };
  const attributes = Object.fromEntries(Object.entries(known).slice(0, maxAttributes));
  return { file_id: fileId, filename, text: passage.text, score, attributes };
}

/** The position of the passage in its file, as attributes. Attributes of the file with the same names replace them. */
function placeOf({ id, metadata }: RetrievedDocument): FileSearchResult['attributes'] {
  const { chunk_index: index, page } = metadata;
  return {
    chunk_id: id,
    ...(typeof index === 'number' && { chunk_index: index }),
    ...(typeof page === 'number' && { page }),
  };
}

/** A passage as a document for grounded answers; its citations name the file. */
export function toDocument({ file, passage, score }: FoundPassage): RetrievedDocument {
  return { ...named(passage, file), score };
}

function named<Passage extends Neighbour>(
  passage: Passage,
  { fileId, filename }: FoundPassage['file'],
): Passage {
  return { ...passage, metadata: { ...passage.metadata, document_id: fileId, filename } };
}

/** A block as a document to cite. It has a page only if it lies on one. */
function blockDocument({ chunks, text }: EvidenceBlock): RetrievedDocument {
  const [first] = chunks;
  const { page_breaks: _breaks, places: _places, page, ...metadata } = first!.metadata;
  const isOnOne = chunks.every(
    ({ metadata: own }) => own['page'] === page && own['page_breaks'] === undefined,
  );
  return {
    id: first!.id,
    text,
    score: 0,
    metadata: { ...metadata, ...(isOnOne && page !== undefined && { page }) },
  };
}

/** The blocks as text for the model. Their numbers continue after `numbered`. */
export function numberedPassages(
  blocks: readonly Pick<EvidenceBlock, 'label' | 'text'>[],
  numbered: number,
): string {
  if (blocks.length === 0) return 'Nothing was found.';
  return blocks.map(({ label, text }, index) => `[${numbered + index + 1}] ${label}\n${text}`).join('\n\n');
}
