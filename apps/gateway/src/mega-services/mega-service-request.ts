import type { ChatMessage, embed, FileReference, generate, RequestOf } from '#contracts';
import type { NodeContext } from '#dag';
import type { CallOptions, RpcClient } from '#messaging';

/** What is asked: the question that documents are searched for, and the turns that it stands in. */
export interface Conversation {
  query: string;
  messages: ChatMessage[];
}

/** Tools that the model may call, and the form of its text. */
export type AnswerForm = Pick<
  RequestOf<typeof generate>,
  'tools' | 'tool_choice' | 'parallel_tool_calls' | 'constraint' | 'whole'
>;

/** What starts a mega service. */
export interface MegaServiceRequest extends Conversation {
  requestId: string;
  traceparent: string;
  /** When the run is given up, and what puts that off. */
  deadline: number;
  patience?: CallOptions['patience'];
  /** Its mega service asks the language model: for the answer, so it may for the search too. */
  asksModel?: boolean;
  /** The language model that the file of its mega service names, or the default one. */
  languageModel?: string | undefined;
  /** Uploaded with the request; they lie in the object store until it has ended. */
  files?: readonly FileReference[];
  /** What the answer has to be beside sentences, where the model answers as the last node. */
  form?: AnswerForm;
  /** The whole request for vectors, where that is what is asked for. */
  embeddings?: Pick<RequestOf<typeof embed>, 'inputs' | 'model'>;
}

/** Everything that one call of a node's service needs. */
export interface NodeCall {
  client: RpcClient;
  context: NodeContext;
  request: MegaServiceRequest;
  options: CallOptions;
  /** The question that documents are searched with. */
  searchedFor: () => Promise<string>;
}

/** What a node works on: the conversation that a node before it has gone over, else the request's own. */
export function conversationOf({ context, request }: Pick<NodeCall, 'context' | 'request'>): Conversation {
  return (context.inputs['conversation'] as Conversation | undefined) ?? request;
}

/** The last thing that the user said. */
export function questionOf(messages: readonly ChatMessage[]): string {
  return messages.findLast(({ role }) => role === 'user')?.content ?? messages.at(-1)?.content ?? '';
}

/** Messages up to the user's first one are the same in each turn of a conversation; so much of them is enough to tell it. */
const longestAffinity = 2_000;

/** Leads the turns of a conversation to the instance of the language model that has its prefix in the cache. */
export function affinityOf(messages: readonly ChatMessage[], cacheKey?: string): string {
  if (cacheKey !== undefined) return cacheKey;
  const first = messages.findIndex(({ role }) => role === 'user');
  const opening = messages.slice(0, first + 1).map(({ content }) => content);
  return opening.join('\n').slice(-longestAffinity);
}

/** Gives a parameter that has another name in OPEA's reference the name that it has here; the name here wins. */
export function inNamesOfHere(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { index_name, ...rest } = fields;
  if (index_name === undefined || index_name === null || index_name === '') return rest;
  return { ...rest, collection: rest['collection'] ?? index_name };
}
