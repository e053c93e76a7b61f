import { maxImages, type ChatMessage, type RetrievedDocument, type Tool, type ToolCall } from '#contracts';
import type { Include, ResponseObject, ResponseTool, StoredItem, ToolStep } from '#responses';
import type { HttpCall } from '#service-kit';

/** How a server is reached that a request names: not kept, for it may hold keys. */
export interface ToolSecrets {
  url: string | undefined;
  authorization: string | undefined;
  headers: Record<string, string>;
}

/** What tools that the server runs may know of the response they run for. */
export interface ToolContext {
  /** Whose files and stores may be used. */
  readonly owner: string;
  /** The response as it began: its tools, settings, metadata. */
  readonly response: ResponseObject;
  /** What the caller asked to see of the work. */
  readonly include: ReadonlySet<Include>;
  /** Earlier and new items of the conversation that are no turns of the model's, e.g. `mcp_approval_response`. */
  readonly items: readonly StoredItem[];
  /** The conversation as the model is asked it first. */
  readonly messages: readonly ChatMessage[];
  /** Passages that citations may refer to so far; those of the next call are numbered behind them. */
  readonly documents: readonly RetrievedDocument[];
  /** What the request holds for a tool and is kept nowhere: keys of servers, by their label. */
  readonly secrets: ReadonlyMap<string, ToolSecrets>;
  /** The model sees images in the results of tools. */
  readonly takesImages: boolean;
  /** Has something done when the response has ended, however it ended: connections are closed there. */
  readonly atEnd: (work: () => Promise<void>) => void;
  /** Id, trace, deadline and signal of the request: whatever is asked outside must end when the signal aborts. */
  readonly call: HttpCall;
}

/** What came of a call. */
export interface ToolOutcome {
  /** What the model is told; undefined where the caller has to act first (approval): the response ends behind this turn. */
  readonly output: string | undefined;
  /** Images of the result, as data URLs, for models that see. */
  readonly images?: NonNullable<ChatMessage['images']>;
  /**
   * Passages that the output shows as `[n]`, counted on from those of the context. The answers that follow are checked
   * against all passages, and what they cite becomes `file_citation` annotations.
   */
  readonly documents?: readonly RetrievedDocument[];
}

/** A tool that the model calls and the server runs. */
export interface ServerTool {
  /** What the model is told of it: a function. */
  readonly definition: Tool;
  /**
   * Runs a call of it: yields what the response shows meanwhile, returns what came of it. `call.input` is JSON that the
   * model wrote, held to the parameters only where the tool is strict. What goes wrong in the tool is told to the model
   * in the output; what is thrown ends the response as failed.
   */
  call(call: ToolCall, context: ToolContext): AsyncGenerator<ToolStep, ToolOutcome, void>;
}

/** What an entry of a request's `tools` has become. */
export interface OpenedTools {
  readonly tools: readonly ServerTool[];
  /** Turns to add to the conversation, e.g. a call that was approved in this request, and its result. */
  readonly messages?: readonly ChatMessage[];
  /**
   * Passages found without being asked by the model: the answer is written from them, as a mega service's is. Without
   * `tools` beside them the work is done, and a `tool_choice` that demands it is content.
   */
  readonly documents?: readonly RetrievedDocument[];
}

/** Turns entries of one type of a request's `tools` into tools that the server runs. */
export interface ServerToolSource {
  /** The `type` of the entries, e.g. `mcp`. */
  readonly type: string;
  /** It does its work for a model that calls no tools, too. */
  readonly worksUncalled?: boolean;
  /** Checks an entry before the response begins. Errors: invalid_request with a path below `param` (`tools[2]`). */
  check(entry: ResponseTool, param: string): void;
  /**
   * Makes an entry ready for a response; may show items of its own (`mcp_list_tools`). Called once for each response,
   * again where another process takes it over. Errors end the response.
   */
  open(entry: ResponseTool, context: ToolContext): AsyncGenerator<ToolStep, OpenedTools, void>;
}

/** What the model is told of a result, and shown of it where it sees. */
export function toolMessage(
  { output = '', images = [] }: Pick<ToolOutcome, 'output' | 'images'>,
  toolCallId: string,
  takesImages: boolean,
): ChatMessage {
  const isShown = takesImages && images.length > 0;
  return { role: 'tool', content: output, toolCallId, ...(isShown && { images: [...images] }) };
}

/** The turns without the images of tools that would be too many for one request: the oldest of these stay. */
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
