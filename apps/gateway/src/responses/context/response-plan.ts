import type { Include, ResponseObject, StoredItem } from '#api/responses';
import type { ChatCompletionRequest } from '#api/openai-api';
import type { OpenedModel } from '../../chat/opened-model.js';
import type { ResolvedModel } from '../../models/model-catalog.js';
import type { ToolSecrets } from '../tools/server-tool.js';

/** The input of a generation. It is stored with a background response, so that another process can restart it. */
export interface GenerationJob {
  /** The request of the chat; its model is resolved. */
  chat: ChatCompletionRequest & ResolvedModel;
  truncation: 'auto' | 'disabled';
  /** The query for the documents, where the model is a mega service with a search. */
  searchQuery: string | null;
  includeSearchResults: boolean;
  /** The optional output that the caller asked for. */
  include: Include[];
  /** `generate: false`: the model reads the conversation and writes no answer. */
  warmUp?: boolean;
  /** The compaction of the conversation before the generation. */
  compaction?: PlannedCompaction;
  /** Items of the conversation that are not turns, for the tools that the server runs: approvals, lists of tools. */
  toolItems: StoredItem[];
  /** The sealed secrets of the request that its tools need; absent where they may not be stored. */
  toolSecrets?: string;
}

/** A compaction that belongs to a response. */
export interface PlannedCompaction {
  /** Tokens at which the server compacts; null: at four fifths of the window. */
  threshold: number | null;
  /** The response contains only the compaction and no answer. */
  only: boolean;
  /** The whole conversation with its sealed items opened, without instructions. */
  items: StoredItem[];
  instructions: string | null;
}

/** A response that is about to be made. */
export interface ResponsePlan {
  owner: string;
  /** The response object at its start. */
  initial: ResponseObject;
  /** The earlier items of the conversation, which the response object does not repeat. */
  context: readonly StoredItem[];
  /** The new items of the request, references resolved. */
  inputItems: StoredItem[];
  job: GenerationJob;
  /** The model that answers; absent in a plan that another process has made. */
  model?: OpenedModel;
  /** Secrets of the request that its tools need; stored only sealed, and only with a background response. */
  toolSecrets: ReadonlyMap<string, ToolSecrets>;
  /** Fields of the request without effect. */
  ignored: string[];
}
