/** A token with its log probability, as the Responses API writes it: `bytes` is always an array. */
export interface LogProb {
  token: string;
  logprob: number;
  bytes: number[];
  top_logprobs: { token: string; logprob: number; bytes: number[] }[];
}

/** Where an answer's text came from: `index` is the character offset in the text behind which it is cited. */
export interface FileCitation {
  type: 'file_citation';
  file_id: string;
  filename: string;
  index: number;
}

export interface OutputText {
  type: 'output_text';
  text: string;
  annotations: FileCitation[];
  logprobs: LogProb[];
}

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export interface OutputMessage {
  id: string;
  type: 'message';
  role: 'assistant';
  status: ItemStatus;
  content: OutputText[];
}

export interface FileSearchResult {
  file_id: string;
  filename: string;
  text: string;
  /** Comparable only within one call. */
  score: number;
  /** Never null: the AI SDK requires an object. */
  attributes: Record<string, string | number | boolean>;
}

/** A retrieval that the server ran; `results` only where the caller asked to include them. */
export interface FileSearchCall {
  id: string;
  type: 'file_search_call';
  status: ItemStatus | 'searching' | 'failed';
  queries: string[];
  results: FileSearchResult[] | null;
}

export type OutputItem = OutputMessage | FileSearchCall;

/** The text of all messages, joined: the convenience field `output_text`. */
export function outputText(output: readonly OutputItem[]): string {
  const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []));
  return parts.map(({ text }) => text).join('');
}
