import { pageOfQuote, type Citation, type RetrievedDocument } from '#contracts';

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
  /** Beyond OpenAI's fields: the page of a paged document. */
  page?: number;
}

export interface OutputText {
  type: 'output_text';
  text: string;
  annotations: FileCitation[];
  logprobs: LogProb[];
}

/** What is said in the place of an answer, by the model or by a guard. */
export interface OutputRefusal {
  type: 'refusal';
  refusal: string;
}

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export interface OutputMessage {
  id: string;
  type: 'message';
  role: 'assistant';
  status: ItemStatus;
  content: (OutputText | OutputRefusal)[];
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

/** A call that the caller is to run; `arguments` is JSON. */
export interface FunctionCall {
  id: string;
  type: 'function_call';
  status: ItemStatus;
  call_id: string;
  name: string;
  /** Of a tool that was given in a namespace: its name, `name` being the one within it. */
  namespace?: string;
  arguments: string;
}

/** A call of a tool with free input, which the caller is to run. */
export interface CustomToolCall {
  id: string;
  type: 'custom_tool_call';
  status: ItemStatus;
  call_id: string;
  name: string;
  namespace?: string;
  input: string;
}

/** What the model thought before it answered, as the summary that every client takes. */
export interface ReasoningItem {
  id: string;
  type: 'reasoning';
  status: ItemStatus;
  summary: { type: 'summary_text'; text: string }[];
  /** What the caller may send back to have it remembered; only where it asked for it. */
  encrypted_content?: string;
}

/** What a server of the Model Context Protocol offers. */
export interface McpListTools {
  id: string;
  type: 'mcp_list_tools';
  server_label: string;
  tools: { name: string; description: string | null; input_schema: unknown; annotations: unknown }[];
  /** Why it could not be asked. */
  error?: string | null;
}

/** Why a call failed: the tool itself, the protocol, or the way to the server. */
export type McpError =
  | { type: 'mcp_tool_execution_error'; content: unknown }
  | { type: 'mcp_protocol_error'; code: number; message: string }
  | { type: 'http_error'; code: number; message: string };

/** A call that the server ran on a server of the Model Context Protocol. */
export interface McpCall {
  id: string;
  type: 'mcp_call';
  status: ItemStatus | 'calling' | 'failed';
  server_label: string;
  name: string;
  arguments: string;
  output: string | null;
  error: McpError | null;
  approval_request_id: string | null;
}

/** A call that waits for the caller's consent. */
export interface McpApprovalRequest {
  id: string;
  type: 'mcp_approval_request';
  server_label: string;
  name: string;
  arguments: string;
}

/** What a context was compacted to, sealed: the caller sends it back in place of what it stands for. */
export interface Compaction {
  id: string;
  type: 'compaction';
  encrypted_content: string;
}

/** An item of the work that the server does itself. */
export type ServerItem = Compaction | FileSearchCall | McpListTools | McpCall | McpApprovalRequest;
/** A call that is left to the caller. */
export type ClientCall = FunctionCall | CustomToolCall;
export type OutputItem = OutputMessage | ReasoningItem | ClientCall | ServerItem;

/** The text of all messages, joined: the convenience field `output_text`. */
export function outputText(output: readonly OutputItem[]): string {
  const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []));
  return parts.map((part) => (part.type === 'output_text' ? part.text : '')).join('');
}

/** OpenAI's limits of a file's attributes. */
const mostAttributes = 16;
const longestAttribute = 512;

/** A retrieved passage as a result of a file search; the file is the document that the passage was cut from. */
export function fileSearchResult(document: RetrievedDocument): FileSearchResult {
  const { text, score } = document;
  return { ...fileOf(document), text, score, attributes: attributesOf(document) };
}

/** Citations as annotations; one whose passage is not among the documents is dropped: it would point nowhere. */
export function fileCitations(
  citations: readonly Citation[],
  documents: readonly RetrievedDocument[],
): FileCitation[] {
  const byId = new Map(documents.map((document) => [document.id, document]));
  return citations.flatMap(({ documentId, endIndex, quote }): FileCitation[] => {
    const document = byId.get(documentId);
    if (!document) return [];
    const page = pageOfQuote(document, quote);
    return [
      {
        type: 'file_citation',
        ...fileOf(document),
        index: endIndex,
        ...(page !== undefined && { page }),
      },
    ];
  });
}

function fileOf({ id, metadata }: RetrievedDocument): { file_id: string; filename: string } {
  const fileId = textOf(metadata['document_id']) ?? id;
  return { file_id: fileId, filename: textOf(metadata['filename']) ?? textOf(metadata['source']) ?? fileId };
}

/** What OpenAI allows as attributes: strings, numbers and booleans, and the id of the passage itself. */
function attributesOf({ id, metadata }: RetrievedDocument): FileSearchResult['attributes'] {
  const attributes: FileSearchResult['attributes'] = { chunk_id: id };
  for (const [name, value] of Object.entries(metadata)) {
    if (Object.keys(attributes).length === mostAttributes) break;
    if (typeof value === 'string') attributes[name] = value.slice(0, longestAttribute);
    else if (typeof value === 'number' || typeof value === 'boolean') attributes[name] = value;
  }
  return attributes;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
