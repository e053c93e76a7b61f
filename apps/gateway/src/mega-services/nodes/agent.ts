import {
  generate,
  generationParametersSchema,
  type ChatMessage,
  type GenerationChunk,
  type RetrievedDocument,
} from '#platform/contracts';
import { z } from 'zod';
import { answerWithTools, type ToolTurn } from '../../tool-turns/answer-with-tools.js';
import { affinityOf, conversationOf, questionOf, type NodeCall } from '../mega-service-request.js';
import { callGenerate } from './service-calls.js';
import { modelParameter } from './write.js';

export const agentParametersSchema = generationParametersSchema.extend({
  max_tool_calls: z.int().min(1).max(32).default(8).describe('Maximum calls of tools for one answer'),
  model: modelParameter,
});

type Parameters = z.output<typeof agentParametersSchema>;

/**
 * Answers with the tools `search`, `find` and `open`, and begins with the passages of the node before, as if the model
 * had searched for the question. A model that does not call tools answers from these passages.
 */
export async function* callAgent(call: NodeCall): AsyncGenerator<GenerationChunk, void, void> {
  const { context } = call;
  const info = await call.describeModel();
  const agent = info?.callsTools === false ? undefined : call.request.openAgentTools?.();
  const { max_tool_calls: maxCalls, ...parameters } = context.parameters as Parameters;
  if (!agent) {
    yield* callGenerate({ ...call, context: { ...context, parameters } });
    return;
  }
  const documents = [...((context.inputs['documents'] as RetrievedDocument[] | undefined) ?? [])];
  // The array grows, so that the citations of the answer find the passages of all calls.
  call.request.onDocuments?.(documents, []);
  const { messages } = conversationOf(call);
  yield* answerWithTools({
    messages:
      documents.length === 0 ? messages : [...messages, ...firstSearch(messages, agent.show(documents))],
    tools: agent.tools,
    maxCalls,
    documents,
    generate: turnsOf(call, parameters, affinityOf(messages)),
  });
  context.report({ documentIds: documents.map(({ id }) => id) });
}

/** Generates the turns of an answer. */
function turnsOf(
  { client, options, images, request }: NodeCall,
  parameters: Omit<Parameters, 'max_tool_calls'>,
  affinity: string,
): (turn: ToolTurn) => AsyncIterable<GenerationChunk> {
  const { chatTemplateKwargs, labels, form } = request;
  const shared = {
    ...parameters,
    ...(form?.whole && { whole: true }),
    ...(chatTemplateKwargs && { chat_template_kwargs: chatTemplateKwargs }),
    ...(labels && { labels }),
  };
  return ({ messages: all, tools, toolChoice, documents }) =>
    images.lend(all, { signal: options.signal }, (messages) => {
      const passages = documents.length > 0 ? { documents, documents_told: true } : {};
      const payload = { ...shared, messages, tools, tool_choice: toolChoice, ...passages };
      return client.stream(generate, payload, { ...options, affinity });
    });
}

/** The search that the mega service has made, as a call and its result. */
function firstSearch(messages: readonly ChatMessage[], text: string): ChatMessage[] {
  const id = 'call_first_search';
  const input = JSON.stringify({ query: questionOf(messages) });
  return [
    { role: 'assistant', content: '', toolCalls: [{ id, name: 'search', input }] },
    { role: 'tool', content: text, toolCallId: id },
  ];
}
