import { invalidField, unsupportedField, type RetrievedDocument } from '#platform/contracts';
import type { ChatCompletionRequest } from '#api/openai-api';
import type { HttpCall } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { BuiltInTools, type BuiltInTool } from '../document-tools/built-in-tools.js';
import { passagesAsText, toPassage } from '../document-tools/passages.js';
import { withAddresses } from '../mega-services/page-address.js';
import { answerWithTools, type AgentTools, type RunningTool } from '../tool-turns/answer-with-tools.js';
import type { ChatModel, ChatRun } from './chat-model.js';

/** Chats of a language model with the tools that the gateway runs. */
@Injectable()
export class ToolChats {
  constructor(@Inject(BuiltInTools) private readonly tools: BuiltInTools) {}

  /** Refuses tools that this installation does not serve. Errors: unsupported_parameter with the path of the tool. */
  assertServed({ serverTools = [] }: Pick<ChatCompletionRequest, 'serverTools'>): void {
    for (const { entry, param } of serverTools) this.#find(entry.type, param);
  }

  /**
   * Starts an answer. Its text is that of all generations, and its citations are those of the passages that the tools
   * find. Errors: invalid_request for an entry of `tools`, or for several answers; insufficient_scope.
   */
  start(model: ChatModel, request: ChatCompletionRequest, call: HttpCall): ChatRun {
    const { serverTools = [], maxToolCalls, tools: ownTools, toolChoice, ...asked } = request;
    if ((request.parameters.n ?? 1) > 1) throw invalidField('n', 'must be 1 with tools of the server');
    const tools = serverTools.map(({ entry, param }) => this.#open(entry, param, call));
    const documents: RetrievedDocument[] = [...(request.documents ?? [])];
    const first = model.start(asked, call);
    const chunks = answerWithTools({
      messages: request.messages,
      ownTools,
      tools: toolChoice?.mode === 'none' ? [] : tools,
      toolChoice,
      maxCalls: maxToolCalls,
      documents,
      generate: ({ messages, documents: found, ...choice }) => {
        const passages = found.length > 0 ? { documents: found } : {};
        return model.start({ ...asked, messages, ...choice, ...passages }, call).chunks;
      },
    });
    const citable = () => withAddresses(documents, call.origin);
    return { ...first, identity: { ...first.identity, documents: citable }, chunks };
  }

  /** The tools of an agent. Errors: insufficient_scope. */
  forAgent(call: HttpCall, collection: string | undefined): AgentTools {
    const entries = this.tools.types.map((type) =>
      type === 'search' && collection !== undefined ? { type, collection } : { type },
    );
    return {
      tools: entries.map((entry) => this.#open(entry, 'tools', call)),
      show: (documents) => passagesAsText(documents.map(toPassage)),
    };
  }

  #open(entry: { type: string }, param: string, call: HttpCall): RunningTool {
    const tool = this.#find(entry.type, param);
    tool.check(entry, param);
    const { definition, run } = tool.open(entry, call);
    return {
      definition,
      run: async (input, numbered) => {
        const { text, found } = await run(input, { call, numbered });
        call.signal.throwIfAborted();
        return { text, documents: found };
      },
    };
  }

  #find(type: string, param: string): BuiltInTool {
    const tool = this.tools.find(type);
    if (tool) return tool;
    const reason = `the tool ${type} is not served here; the operator can set WEB_SEARCH_URL`;
    throw unsupportedField(`${param}.type`, reason);
  }
}
