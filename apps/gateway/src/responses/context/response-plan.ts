import type { ChatCompletionRequest } from '#openai-api';
import type { ToolSecrets } from '../tools/server-tool.js';
import type { Include, ResponseObject, StoredItem } from '#responses';

/** What it takes to generate a response: kept with a background one, so that another process can start it anew. */
export interface GenerationJob {
  chat: ChatCompletionRequest;
  truncation: 'auto' | 'disabled';
  /** What the documents are searched for, where the model is a mega service that searches. */
  searchQuery: string | null;
  includeSearchResults: boolean;
  /** What the caller asked to see beyond the usual. */
  include: Include[];
  /** `generate: false`: the model reads the conversation and says nothing. */
  warmUp?: boolean;
  /** Compacts the conversation before it goes on. */
  compaction?: PlannedCompaction;
  /** Items of the conversation that are no turns, for the tools that the server runs: approvals, lists of tools. */
  toolItems: StoredItem[];
  /** What tools need of the request and is not shown, sealed; absent where it may not be kept. */
  toolSecrets?: string;
}

/** A compaction that belongs to a response. */
export interface PlannedCompaction {
  /** Tokens from which on it is done; null: where four fifths of the window are full. */
  threshold: number | null;
  /** The response is the compaction, and has no answer. */
  only: boolean;
  /** The whole conversation, readable, without instructions. */
  items: StoredItem[];
  instructions: string | null;
}

/** A response that is about to be made. */
export interface ResponsePlan {
  owner: string;
  /** The response as it begins. */
  initial: ResponseObject;
  /** What was said before, of which the response object repeats nothing. */
  context: readonly StoredItem[];
  /** The new items of the request, references resolved. */
  inputItems: StoredItem[];
  job: GenerationJob;
  /** What tools need of the request and nobody may see; kept only sealed, and only with a background response. */
  toolSecrets: ReadonlyMap<string, ToolSecrets>;
  /** Fields of the request without effect. */
  ignored: string[];
}
