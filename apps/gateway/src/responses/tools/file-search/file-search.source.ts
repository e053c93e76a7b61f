import { describeLlmModel, type ChatMessage, type ModelInfo, type ToolCall } from '#contracts';
import { RpcClient } from '#messaging';
import { newItemId, type FileSearchCall, type ResponseTool, type ToolStep } from '#responses';
import { VectorStoresRepository } from '#storage';
import { Inject, Injectable } from '@nestjs/common';
import type { OpenedTools, ServerTool, ServerToolSource, ToolContext, ToolOutcome } from '../server-tool.js';
import { requireStore } from '../../../vector-stores/require-store.js';
import { VectorStoreSearch, type FoundPassage } from '../../../vector-stores/vector-store-search.js';
import {
  fileSearchArgumentsSchema,
  fileSearchDefinition,
  readFileSearchTool,
  type FileSearchTool,
} from './file-search-tool.js';
import { numberedPassages, toDocument, toSearchResult, withinWords } from './shown-passages.js';

/** Words of passages per token of the model's window: at two tokens a word they take half of it. */
const wordsPerToken = 0.25;

/**
 * `file_search` over vector stores. A model that can call tools searches when it wants to. For one that
 * calls none the user's question is searched first, and the answer is written from what was found.
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

  /** Errors: not_found for a store that is not the owner's, conflict for an expired one. */
  async *open(entry: ResponseTool, context: ToolContext): AsyncGenerator<ToolStep, OpenedTools, void> {
    const tool = readFileSearchTool(entry, 'tools');
    for (const id of tool.vector_store_ids)
      await requireStore(this.stores, context.owner, id, 'living', 'tools');
    const model = await this.rpc.request(describeLlmModel, {}, context.call);
    if (model.callsTools !== false) return { tools: [this.#serverTool(tool, model)] };
    const question = questionOf(context.messages);
    if (question === '') return { tools: [] };
    const found = yield* this.#search(tool, [question], context);
    return { tools: [], documents: found.map(toDocument) };
  }

  #serverTool(tool: FileSearchTool, model: ModelInfo): ServerTool {
    const call = (wanted: ToolCall, context: ToolContext) => this.#call(tool, model, wanted, context);
    return { definition: fileSearchDefinition, call };
  }

  async *#call(
    tool: FileSearchTool,
    { maxInputTokens }: ModelInfo,
    { input }: ToolCall,
    context: ToolContext,
  ): AsyncGenerator<ToolStep, ToolOutcome, void> {
    const queries = readQueries(input);
    if (!queries) return { output: 'The arguments are not {"queries": ["…"]}: nothing was searched.' };
    const found = yield* this.#search(tool, queries, context);
    const shown = withinWords(found, maxInputTokens * wordsPerToken);
    const output = numberedPassages(shown, context.documents.length);
    return { output, documents: shown.map(toDocument) };
  }

  /** Searches, and shows it as an item. */
  async *#search(
    tool: FileSearchTool,
    queries: string[],
    { owner, call, include }: ToolContext,
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
    const found = await this.searches.search(search, call);
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

/** The last thing that the user said. */
function questionOf(messages: readonly ChatMessage[]): string {
  return messages.findLast(({ role }) => role === 'user')?.content.trim() ?? '';
}
