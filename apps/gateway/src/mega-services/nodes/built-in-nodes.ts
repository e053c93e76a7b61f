import {
  embeddingParametersSchema,
  faqParametersSchema,
  generate,
  generationParametersSchema,
  rerankingParametersSchema,
  retrievalParametersSchema,
  summaryParametersSchema,
  transcriptionParametersSchema,
} from '#platform/contracts';
import { createServiceRegistry, type InputPort, type NodeRunner, type ServiceKind } from '#platform/dag';
import { z } from 'zod';
import type { NodeCall } from '../mega-service-request.js';
import {
  callEmbedInputs,
  callExtract,
  callFaq,
  callGenerate,
  callSummarize,
  callTranscribe,
} from './service-calls.js';
import { agentParametersSchema, callAgent } from './agent.js';
import { callEmbedding, callReranking, callRetrieval } from './search-calls.js';
import { callLoop, loopParametersSchema } from '../loop/search-loop.js';
import { callAnswerGuardrail, callGuardrail } from './guardrail.js';
import { callWrite, modelParameter as model, writingParameters } from './write.js';

/** The conversation from an earlier node, e.g. a guard that redacts; by default the request's own conversation. */
const conversation: InputPort = { kind: 'conversation', optional: true };

/** A reranker that is late or away still leaves `top_n` passages, in the order of the search. */
function keepTopN(documents: unknown, { top_n }: { top_n?: number }): unknown {
  return Array.isArray(documents) ? documents.slice(0, top_n) : documents;
}

/** A built-in service as a node of mega services. */
export interface BuiltInNode extends ServiceKind {
  /** Calls the service over NATS for one node of a run. */
  call(call: NodeCall): ReturnType<NodeRunner>;
}

const summary: BuiltInNode = {
  service: 'llm.summarize',
  call: callSummarize,
  inputs: { conversation, text: { kind: 'text', optional: true } },
  output: 'answer',
  parameters: summaryParametersSchema.extend({ model }),
  fixed: ['model'],
  streaming: true,
};

/** The built-in services that a mega service's YAML can name, with their ports, parameters and calls. */
export const builtInNodes: ReadonlyMap<string, BuiltInNode> = createServiceRegistry<BuiltInNode>([
  {
    service: 'embedding',
    call: callEmbedding,
    inputs: { conversation },
    output: 'embedding',
    // A query's vector must have the same number of dimensions as the index, so `dimensions` is not a parameter here.
    parameters: embeddingParametersSchema.pick({ truncate: true }),
  },
  {
    service: 'embedding.inputs',
    call: callEmbedInputs,
    inputs: { conversation },
    output: 'vectors',
    parameters: embeddingParametersSchema,
  },
  {
    service: 'retrieval',
    call: callRetrieval,
    inputs: { conversation, embedding: { kind: 'embedding', optional: true } },
    output: 'documents',
    parameters: retrievalParametersSchema,
  },
  {
    service: 'reranking',
    call: callReranking,
    inputs: { conversation, documents: { kind: 'documents' } },
    output: 'documents',
    parameters: rerankingParametersSchema,
    passThrough: 'documents',
    whenSkipped: keepTopN,
  },
  {
    service: 'retrieval.loop',
    call: callLoop,
    inputs: { conversation, documents: { kind: 'documents' } },
    output: 'documents',
    parameters: loopParametersSchema,
    passThrough: 'documents',
  },
  {
    service: 'llm',
    call: callGenerate,
    inputs: { conversation, documents: { kind: 'documents', optional: true } },
    output: 'answer',
    parameters: generationParametersSchema.extend({
      chat_template: generate.request.shape.chat_template,
      model,
    }),
    unjudged: ['chat_template'],
    fixed: ['model'],
    streaming: true,
  },
  {
    service: 'llm.agent',
    call: callAgent,
    inputs: { conversation, documents: { kind: 'documents', optional: true } },
    output: 'answer',
    parameters: agentParametersSchema,
    fixed: ['model'],
    streaming: true,
  },
  {
    service: 'llm.write',
    call: callWrite,
    inputs: { conversation },
    output: 'answer',
    ...writingParameters({}),
    withParams: writingParameters,
    fixed: ['model', 'chat_template'],
    streaming: true,
  },
  summary,
  // The name of version 0.1; version 0.2 drops it.
  { ...summary, service: 'llm.summarise' },
  {
    service: 'llm.faq',
    call: callFaq,
    inputs: { conversation, text: { kind: 'text', optional: true } },
    output: 'answer',
    parameters: faqParametersSchema.extend({ model }),
    fixed: ['model'],
    streaming: true,
  },
  {
    service: 'asr',
    call: callTranscribe,
    inputs: { conversation },
    output: 'conversation',
    // Only `language`: `temperature` and `prompt` are also parameters of the language model, with another meaning.
    parameters: transcriptionParametersSchema.pick({ language: true }),
    passThrough: 'conversation',
  },
  {
    service: 'dataprep.extract',
    call: callExtract,
    inputs: { conversation },
    output: 'text',
    parameters: z.object({}),
  },
  {
    // No parameters: a caller must not change the rules of a guard.
    service: 'guardrail',
    judges: true,
    call: callGuardrail,
    inputs: { conversation },
    output: 'conversation',
    parameters: z.object({}),
    passThrough: 'conversation',
  },
  {
    service: 'guardrail.answer',
    call: callAnswerGuardrail,
    inputs: { answer: { kind: 'answer', stream: 'sentences' } },
    output: 'answer',
    parameters: z.object({}),
    passThrough: 'answer',
    streaming: true,
  },
]);
