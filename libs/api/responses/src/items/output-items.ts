import {
  addressOf,
  pageFields,
  timeFields,
  timeOfQuote,
  type PageFields,
  type TimeFields,
  quoteFields,
  type Citation,
  type QuoteFields,
  type RetrievedDocument,
} from '#platform/contracts';

/** A token with its log probability, in the format of the Responses API: `bytes` is always an array. */
export interface LogProb {
  token: string;
  logprob: number;
  bytes: number[];
  top_logprobs: { token: string; logprob: number; bytes: number[] }[];
}

/** The source of an answer's text: `index` is the character offset in the text after which it is cited. */
export interface FileCitation extends QuoteFields, Partial<PageFields>, Partial<TimeFields> {
  type: 'file_citation';
  file_id: string;
  filename: string;
  index: number;
  /** The web address of a linked document, or of the passage in the page. */
  url?: string;
  chunk_id: string;
}

export interface OutputText {
  type: 'output_text';
  text: string;
  annotations: FileCitation[];
  logprobs: LogProb[];
}

/** The refusal in place of an answer, by the model or by a guard. */
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
  /** Extensions of OpenAI's fields, of an answer that quotes documents: what it is to them, and the probability of that. */
  answer_kind?: 'answer' | 'closest' | 'none';
  confidence?: number;
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

/** A retrieval by the server; `results` only if the caller asked to include them. */
export interface FileSearchCall {
  id: string;
  type: 'file_search_call';
  status: ItemStatus | 'searching' | 'failed';
  queries: string[];
  results: FileSearchResult[] | null;
}

/** A call for the caller to run; `arguments` is JSON. */
export interface FunctionCall {
  id: string;
  type: 'function_call';
  status: ItemStatus;
  call_id: string;
  name: string;
  /** The namespace of the tool, if it has one; `name` is the name within the namespace. */
  namespace?: string;
  arguments: string;
}

/** A call of a tool with free input, for the caller to run. */
export interface CustomToolCall {
  id: string;
  type: 'custom_tool_call';
  status: ItemStatus;
  call_id: string;
  name: string;
  namespace?: string;
  input: string;
}

/** The model's reasoning before its answer, as the summary that all clients support. */
export interface ReasoningItem {
  id: string;
  type: 'reasoning';
  status: ItemStatus;
  summary: { type: 'summary_text'; text: string }[];
  /** The sealed reasoning, which the caller may send back in a later request; only if the caller asked for it. */
  encrypted_content?: string;
}

/** The tools of a server of the Model Context Protocol. */
export interface McpListTools {
  id: string;
  type: 'mcp_list_tools';
  server_label: string;
  tools: { name: string; description: string | null; input_schema: unknown; annotations: unknown }[];
  /** Why the server could not list its tools. */
  error?: string | null;
}

/** Why a call failed: an error of the tool, of the protocol, or of the connection. */
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

/** A call that waits for the caller's approval. */
export interface McpApprovalRequest {
  id: string;
  type: 'mcp_approval_request';
  server_label: string;
  name: string;
  arguments: string;
}

/** A compacted context, sealed: the caller sends it back in place of the compacted items. */
export interface Compaction {
  id: string;
  type: 'compaction';
  encrypted_content: string;
}

/** An item for work of the server. */
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
const maxAttributes = 16;
const maxAttributeLength = 512;

/** A retrieved passage as a result of a file search; the file is the document of the passage. */
export function fileSearchResult(document: RetrievedDocument): FileSearchResult {
  const { text, score } = document;
  return { ...fileOf(document), text, score, attributes: attributesOf(document) };
}

/** Citations as annotations. A citation without a quote, or of a passage that is not among the documents, is dropped. */
export function fileCitations(
  citations: readonly Citation[],
  documents: readonly RetrievedDocument[],
): FileCitation[] {
  const byId = new Map(documents.map((document) => [document.id, document]));
  return citations.flatMap((citation): FileCitation[] => {
    const { documentId, endIndex, quote } = citation;
    const document = byId.get(documentId);
    if (!document || quote === '') return [];
    const time = timeOfQuote(document, quote);
    const url = addressOf(document);
    return [
      {
        type: 'file_citation',
        ...fileOf(document),
        index: endIndex,
        ...pageFields(document, quote),
        ...(time && timeFields(time)),
        ...(url !== undefined && { url }),
        chunk_id: document.id,
        ...quoteFields(citation, document),
      },
    ];
  });
}

function fileOf({ id, metadata }: RetrievedDocument): { file_id: string; filename: string } {
  const fileId = textOf(metadata['document_id']) ?? id;
  return { file_id: fileId, filename: textOf(metadata['filename']) ?? textOf(metadata['source']) ?? fileId };
}

/** The attributes that OpenAI allows (strings, numbers and booleans), and the id of the passage. */
function attributesOf({ id, metadata }: RetrievedDocument): FileSearchResult['attributes'] {
  const attributes: FileSearchResult['attributes'] = { chunk_id: id };
  // The places of a text are for the offsets of its quotes alone.
  const { places: _places, ...shown } = metadata;
  for (const [name, value] of Object.entries(shown)) {
    if (Object.keys(attributes).length === maxAttributes) break;
    if (typeof value === 'string') attributes[name] = value.slice(0, maxAttributeLength);
    else if (typeof value === 'number' || typeof value === 'boolean') attributes[name] = value;
  }
  return attributes;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
