import type { ChatCompletionRequest } from '#openai-api';
import type { ResponseObject, StoredItem } from '#responses';

/** What it takes to generate a response: kept with a background one, so that another process can start it anew. */
export interface GenerationJob {
  chat: ChatCompletionRequest;
  truncation: 'auto' | 'disabled';
  /** What the documents are searched for, where the model is a mega service that searches. */
  searchQuery: string | null;
  includeSearchResults: boolean;
}

/** A response that is about to be made. */
export interface ResponsePlan {
  owner: string;
  /** The response as it begins. */
  initial: ResponseObject;
  /** The new items of the request, references resolved. */
  inputItems: StoredItem[];
  job: GenerationJob;
  /** Fields of the request without effect. */
  ignored: string[];
}
