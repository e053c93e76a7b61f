import type { JsonObject } from '../responses/stored-response.js';

/** The API that a batch was created with. */
export type BatchDialect = 'openai' | 'anthropic';

/** States of a batch, as at OpenAI. */
export type BatchStatus =
  | 'validating'
  | 'failed'
  | 'in_progress'
  | 'finalizing'
  | 'completed'
  | 'expired'
  | 'cancelling'
  | 'cancelled';

/** A mistake in the input file. */
export interface BatchProblem {
  code: string;
  message: string;
  line: number | null;
  param: string | null;
}

/** What the key of the caller could do when the batch was created, and where it reached the server. */
export interface BatchCaller {
  name: string;
  scopes: string[];
  models?: string[];
  /** The host that the caller reached, for the addresses in answers. */
  host?: string;
}

/** A batch without its requests. */
export interface StoredBatch {
  id: string;
  owner: string;
  dialect: BatchDialect;
  caller: BatchCaller;
  /** Path of the requests, `/v1/chat/completions`. */
  endpoint: string;
  inputFileId: string | null;
  completionWindow: string;
  metadata: Record<string, string> | null;
  /** Seconds from their creation to the deletion of its output files. */
  outputSeconds: number | null;
  status: BatchStatus;
  total: number;
  completed: number;
  failed: number;
  errors: BatchProblem[] | null;
  outputFileId: string | null;
  errorFileId: string | null;
  /** Unix seconds at which it came into each state. */
  times: Partial<Record<BatchStatus, number>>;
  createdAt: Date;
  expiresAt: Date;
  finishedAt: Date | null;
}

/** The part of a batch that its creator knows. */
export type NewBatch = Pick<
  StoredBatch,
  'id' | 'dialect' | 'caller' | 'endpoint' | 'inputFileId' | 'completionWindow' | 'metadata' | 'outputSeconds'
> & { windowSeconds: number };

/** A request of a batch. */
export interface BatchRequest {
  /** Its position from 0. */
  line: number;
  customId: string;
  body: JsonObject;
}

/** The state of a request. The last three never ran to their end. */
export type RequestState = 'waiting' | 'succeeded' | 'failed' | 'cancelled' | 'expired';

/** The answer to a request. */
export interface BatchResult {
  status: number;
  requestId: string;
  body: JsonObject;
}

/** A request with its state and answer. */
export interface AnsweredRequest {
  line: number;
  customId: string;
  state: RequestState;
  result: BatchResult | null;
}
