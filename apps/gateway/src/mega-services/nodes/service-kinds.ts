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
import { createServiceRegistry, type InputPort, type ServiceRegistry } from '#dag';
import { z } from 'zod';

/** What a node before has made of the conversation (a guard that redacts); without one the request's own is taken. */
const conversation: InputPort = { kind: 'conversation', optional: true };

/**
 * The services that a mega service's YAML can name, with their ports and listed parameters. A service's main method has
 * the service's name, further ones are `service.method`.
 */
export const serviceKinds: ServiceRegistry = createServiceRegistry([
  {
    service: 'embedding',
    inputs: { conversation },
    output: 'embedding',
    // A query's vector must be as wide as those of the index, so the width is no parameter here.
    parameters: embeddingParametersSchema.pick({ truncate: true }),
  },
  {
    service: 'embedding.inputs',
    inputs: { conversation },
    output: 'vectors',
    parameters: embeddingParametersSchema,
  },
  {
    service: 'retrieval',
    inputs: { conversation, embedding: { kind: 'embedding', optional: true } },
    output: 'documents',
    parameters: retrievalParametersSchema,
  },
  {
    service: 'reranking',
    inputs: { conversation, documents: { kind: 'documents' } },
    output: 'documents',
    parameters: rerankingParametersSchema,
    passThrough: 'documents',
  },
  {
    service: 'llm',
    inputs: { conversation, documents: { kind: 'documents', optional: true } },
    output: 'answer',
    parameters: generationParametersSchema.extend({ chat_template: generate.request.shape.chat_template }),
    unjudged: ['chat_template'],
    streaming: true,
  },
  {
    service: 'llm.summarise',
    inputs: { conversation, text: { kind: 'text', optional: true } },
    output: 'answer',
    parameters: summaryParametersSchema,
    streaming: true,
  },
  {
    service: 'llm.faq',
    inputs: { conversation, text: { kind: 'text', optional: true } },
    output: 'answer',
    parameters: faqParametersSchema,
    streaming: true,
  },
  {
    service: 'asr',
    inputs: { conversation },
    output: 'conversation',
    // What the language model takes too (temperature, prompt) would mean something else here.
    parameters: transcriptionParametersSchema.pick({ language: true }),
    passThrough: 'conversation',
  },
  { service: 'dataprep.extract', inputs: { conversation }, output: 'text', parameters: z.object({}) },
  {
    // No parameters: what a guard looks for is not for the guarded to say.
    service: 'guardrail',
    judges: true,
    inputs: { conversation },
    output: 'conversation',
    parameters: z.object({}),
    passThrough: 'conversation',
  },
  {
    service: 'guardrail.answer',
    inputs: { answer: { kind: 'answer', stream: 'sentences' } },
    output: 'answer',
    parameters: z.object({}),
    passThrough: 'answer',
    streaming: true,
  },
]);
