import {
  maxImages,
  type ChatMessage,
  type Neighbour,
  type RetrievedDocument,
  type Tool,
  type ToolCall,
} from '#platform/contracts';
import type { Include, ResponseObject, ResponseTool, StoredItem, ToolStep } from '#api/responses';
import type { HttpCall } from '#platform/service-kit';

/** Address and headers of a server in a request. They are not stored, because they may contain keys. */
export interface ToolSecrets {
  url: string | undefined;
  authorization: string | undefined;
  headers: Record<string, string>;
}

/** The context that a server tool gets from its response. */
export interface ToolContext {
  /** Owner whose files and stores the tool may use. */
  readonly owner: string;
  /** The response object at its start: tools, settings, metadata. */
  readonly response: ResponseObject;
  /** The optional output that the caller asked for. */
  readonly include: ReadonlySet<Include>;
  /** Earlier and new items of the conversation that are not turns, e.g. `mcp_approval_response`. */
  readonly items: readonly StoredItem[];
  /** The conversation of the first generation. */
  readonly messages: readonly ChatMessage[];
  /** Passages that citations may refer to so far; the numbers of further passages continue after them. */
  readonly documents: readonly RetrievedDocument[];
  /** Secrets of the request for its servers, by server label; not stored. */
  readonly secrets: ReadonlyMap<string, ToolSecrets>;
  /** The model accepts images in the results of tools. */
  readonly takesImages: boolean;
  /** Takes the names of steps that failed, or worked in another way than wanted, for `x-meganest-degraded`. */
  readonly degraded: Set<string>;
  /** Registers work for the end of the response, also after a failure, e.g. closing a connection. */
  readonly atEnd: (work: () => Promise<void>) => void;
  /** Id, trace, deadline and signal of the request. External requests must end when the signal aborts. */
  readonly call: HttpCall;
}

/** The result of a call. */
export interface ToolOutcome {
  /** Text for the model; undefined where the caller must act first (approval): the response ends after this turn. */
  readonly output: string | undefined;
  /** Images of the result, as data URLs, for models that accept images. */
  readonly images?: NonNullable<ChatMessage['images']>;
  /**
   * Passages that the output shows as `[n]`; the numbers continue after the passages of the context. Later answers are
   * checked against all passages, and their citations become `file_citation` annotations.
   */
  readonly documents?: readonly RetrievedDocument[];
}

/** A tool that the model calls and the server runs. */
export interface ServerTool {
  /** The definition for the model: a function. */
  readonly definition: Tool;
  /**
   * Runs a call: yields the steps that the response shows, and returns the result. `call.input` is JSON that the model
   * wrote; it satisfies the schema of the parameters only where the tool is strict. A failure of the tool is reported
   * to the model in the output. An error that is thrown ends the response as failed.
   */
  call(call: ToolCall, context: ToolContext): AsyncGenerator<ToolStep, ToolOutcome, void>;
}

/** The tools of one entry of a request's `tools`. */
export interface OpenedTools {
  readonly tools: readonly ServerTool[];
  /** Turns to add to the conversation, e.g. a call that was approved in this request, and its result. */
  readonly messages?: readonly ChatMessage[];
  /**
   * Passages that were found without a call of the model. The answer is written from them, as with a mega service.
   * Without `tools` next to them the work is done, and it satisfies a `tool_choice` that requires the tool.
   */
  readonly documents?: readonly RetrievedDocument[];
  /** Passages around these documents, which the answer may also rest on and cite. */
  readonly neighbours?: readonly Neighbour[];
}

/** Opens entries of one type in a request's `tools` as tools that the server runs. */
export interface ServerToolSource {
  /** The `type` of the entries, e.g. `mcp`. */
  readonly type: string;
  /** The source also works for a model that does not call tools. */
  readonly worksUncalled?: boolean;
  /** Checks an entry before the response begins. Errors: invalid_request with a path below `param` (`tools[2]`). */
  check(entry: ResponseTool, param: string): void;
  /**
   * Opens an entry for a response; may show its own items (`mcp_list_tools`). Called once for each response, and again
   * in a process that takes it over. Errors end the response.
   */
  open(entry: ResponseTool, context: ToolContext): AsyncGenerator<ToolStep, OpenedTools, void>;
}

/** The message with a result for the model; with its images where the model accepts images. */
export function toolMessage(
  { output = '', images = [] }: Pick<ToolOutcome, 'output' | 'images'>,
  toolCallId: string,
  takesImages: boolean,
): ChatMessage {
  const isShown = takesImages && images.length > 0;
  return { role: 'tool', content: output, toolCallId, ...(isShown && { images: [...images] }) };
}

/** The messages with as many images of tools as one request may have: the oldest images stay. */
export function withinImageLimit(messages: readonly ChatMessage[]): ChatMessage[] {
  const given = messages.filter(({ role }) => role !== 'tool');
  let left = maxImages - given.reduce((sum, { images = [] }) => sum + images.length, 0);
  return messages.map((message) => {
    const { images, ...rest } = message;
    if (message.role !== 'tool' || !images) return message;
    left -= images.length;
    return left < 0 ? rest : message;
  });
}
