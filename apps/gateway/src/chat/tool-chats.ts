import { invalidField, type RetrievedDocument } from '#platform/contracts';
import type { ChatCompletionRequest } from '#api/openai-api';
import type { HttpCall } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { BuiltInTools } from '../document-tools/built-in-tools.js';
import { withAddresses } from '../mega-services/page-address.js';
import { answerWithTools, type RunningTool } from '../tool-turns/answer-with-tools.js';
import type { ChatModel, ChatRun } from './chat-model.js';

/** Chats of a language model with the tools that the gateway runs. */
@Injectable()
export class ToolChats {
  constructor(@Inject(BuiltInTools) private readonly tools: BuiltInTools) {}

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

  #open(entry: { type: string }, param: string, call: HttpCall): RunningTool {
    const tool = this.tools.find(entry.type);
    if (!tool) throw invalidField(`${param}.type`, `${entry.type} is not a tool of this server`);
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
}
