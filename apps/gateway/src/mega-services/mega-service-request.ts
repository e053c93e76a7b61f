import {
  withoutFiles,
  type ChatMessage,
  type embed,
  type FileReference,
  type generate,
  type ModelInfo,
  type Neighbour,
  type RequestLabels,
  type RequestOf,
  type RetrievedDocument,
  type TemplateVariables,
} from '#platform/contracts';
import type { NodeContext } from '#platform/dag';
import type { CallOptions, RpcClient } from '#platform/messaging';
import type { FilePassages } from '../input-files/attached-files.js';
import type { ImageStore } from '../input-files/image-store.js';
import type { AgentTools } from '../tool-turns/answer-with-tools.js';
import type { SearchPlan } from './search/search-plan.js';

/** The question for the search of documents, and the turns of its conversation. */
export interface Conversation {
  query: string;
  messages: ChatMessage[];
}

/** Tools that the model may call, and the format of its text. */
export type AnswerForm = Pick<
  RequestOf<typeof generate>,
  'tools' | 'tool_choice' | 'parallel_tool_calls' | 'constraint' | 'whole'
>;

/** The request that a run of a mega service answers. */
export interface MegaServiceRequest extends Conversation {
  requestId: string;
  traceparent: string;
  /** Time at which the run is aborted, in epoch milliseconds. `patience` can extend it. */
  deadline: number;
  patience?: CallOptions['patience'];
  /** The mega service calls the language model, which may then also write queries for the search. */
  asksModel?: boolean;
  /** The mega service has a node that searches documents, so that the vectors of further queries can wait for it. */
  retrieves?: boolean;
  /** The mega service and the collection: their documents have the same languages in each request. */
  searchScope?: string;
  /** Owner of the request: its answers and their cited passages are the owner's alone. */
  owner?: string;
  /** The language model that the file of the mega service names. */
  languageModel?: string | undefined;
  /** The collection that the caller searches; absent: the one of the mega service. */
  collection?: string | undefined;
  /** Uploaded files of the request. They stay in the object store until it ends. */
  files?: readonly FileReference[];
  /** Reads the files in messages as passages. Absent: the language model reads their texts in the messages. */
  readFiles?: (
    messages: readonly ChatMessage[],
    question: string,
    options: CallOptions,
  ) => Promise<FilePassages>;
  /** Gets the documents that the language model reads, and those around them, for citations. */
  onDocuments?:
    ((documents: readonly RetrievedDocument[], neighbours: readonly Neighbour[]) => void) | undefined;
  /** Opens the tools that the gateway runs for an agent. */
  openAgentTools?: () => AgentTools;
  /** Tools and format for the answer. Only for a model that is the last node. */
  form?: AnswerForm;
  /** Variables for the chat template of the language model. */
  chatTemplateKwargs?: TemplateVariables;
  /** Fields for a language model of a remote engine. */
  labels?: RequestLabels;
  /** The inputs of a request for embeddings. */
  embeddings?: Pick<RequestOf<typeof embed>, 'inputs' | 'model' | 'input_type'>;
}

/** The arguments of one call of a node's service. */
export interface NodeCall {
  client: RpcClient;
  context: NodeContext;
  request: MegaServiceRequest;
  options: CallOptions;
  /** Stores the images of a conversation for the language model. */
  images: Pick<ImageStore, 'lend'>;
  /** The plan for the search of documents, the same for all nodes of a run. */
  plan: () => SearchPlan;
  /** Returns the question that stands alone, for a ranking: see {@link SearchPlan.question}. */
  searchedFor: () => Promise<string>;
  /** The language model of the mega service; undefined while it is away. */
  describeModel: () => Promise<ModelInfo | undefined>;
  /** What the language model of the mega service reads of the documents; undefined: the found passages alone. */
  evidence: () => Promise<ModelInfo['evidence']>;
}

/** The conversation for a node: the output of an earlier node, e.g. a guard, or the request's own conversation. */
export function conversationOf({ context, request }: Pick<NodeCall, 'context' | 'request'>): Conversation {
  return (context.inputs['conversation'] as Conversation | undefined) ?? request;
}

/** The last message of the user, without the texts of its files. */
export function questionOf(messages: readonly ChatMessage[]): string {
  const last = lastOfUser(messages);
  return last ? withoutFiles(last).content : '';
}

/** The last message of the user, with the texts of its files. */
export function textOf(messages: readonly ChatMessage[]): string {
  return lastOfUser(messages)?.content ?? '';
}

function lastOfUser(messages: readonly ChatMessage[]): ChatMessage | undefined {
  return messages.findLast(({ role }) => role === 'user') ?? messages.at(-1);
}

/**
 * Maximum number of characters of an affinity key. The messages up to the user's first one are the same in each turn of
 * a conversation, and their end identifies it.
 */
const maxAffinityLength = 2_000;

/** A key that routes the turns of a conversation to the instance of the language model with its KV cache. */
export function affinityOf(messages: readonly ChatMessage[], cacheKey?: string): string {
  if (cacheKey !== undefined) return cacheKey;
  const first = messages.findIndex(({ role }) => role === 'user');
  const opening = messages.slice(0, first + 1).map(({ content }) => content);
  return opening.join('\n').slice(-maxAffinityLength);
}

/**
 * Renames parameters of the OPEA reference to MegaNest's names. If a request has both, MegaNest's parameter applies.
 */
export function inNamesOfHere(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { index_name, ...rest } = fields;
  if (index_name === undefined || index_name === null || index_name === '') return rest;
  return { ...rest, collection: rest['collection'] ?? index_name };
}
