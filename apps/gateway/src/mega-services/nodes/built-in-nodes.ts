import {
  embeddingParametersSchema,
  faqParametersSchema,
  generate,
  generationParametersSchema,
  rerankingParametersSchema,
  retrievalParametersSchema,
  summaryParametersSchema,
  transcriptionParametersSchema,
} from '#contracts';
import { createServiceRegistry, type InputPort, type NodeRunner, type ServiceKind } from '#dag';
import { z } from 'zod';
import type { NodeCall } from '../mega-service-request.js';
import {
  callEmbedding,
  callEmbedInputs,
  callExtract,
  callFaq,
  callGenerate,
  callReranking,
  callRetrieval,
  callSummarise,
  callTranscribe,
} from './service-calls.js';
import { callAnswerGuardrail, callGuardrail } from './guardrail.js';

/** What a node before has made of the conversation (a guard that redacts); without one the request's own is taken. */
const conversation: InputPort = { kind: 'conversation', optional: true };

/** The language model of a node, where several are served. */
const model = z.string().min(1).optional().describe('The language model that is asked');

/** A service of every stack as a node of mega services. */
export interface BuiltInNode extends ServiceKind {
  /** Calls the service over NATS for one node of a run. */
  call(call: NodeCall): ReturnType<NodeRunner>;
}

/** The services of every stack that a mega service's YAML can name, with their ports, parameters and calls. */
export const builtInNodes: ReadonlyMap<string, BuiltInNode> = createServiceRegistry<BuiltInNode>([
  {
    service: 'embedding',
    call: callEmbedding,
    inputs: { conversation },
    output: 'embedding',
    // A query's vector must be as wide as those of the index, so the width is no parameter here.
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
    service: 'llm.summarise',
    call: callSummarise,
    inputs: { conversation, text: { kind: 'text', optional: true } },
    output: 'answer',
    parameters: summaryParametersSchema.extend({ model }),
    fixed: ['model'],
    streaming: true,
  },
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
    // What the language model takes too (temperature, prompt) would mean something else here.
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
    // No parameters: what a guard looks for is not for the guarded to say.
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
