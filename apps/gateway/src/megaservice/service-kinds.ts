import {
  embeddingParametersSchema,
  generate,
  generationParametersSchema,
  rerankingParametersSchema,
  retrievalParametersSchema,
} from '#contracts';
import { createServiceRegistry, type ServiceRegistry } from '#dag';

/** The services that a mega service's YAML can name, with their ports and listed parameters. */
export const serviceKinds: ServiceRegistry = createServiceRegistry([
  {
    service: 'embedding',
    inputs: {},
    output: 'embedding',
    // A query's vector must be as wide as those of the index, so the width is no parameter here.
    parameters: embeddingParametersSchema.pick({ truncate: true }),
  },
  {
    service: 'retrieval',
    inputs: { embedding: { kind: 'embedding', optional: true } },
    output: 'documents',
    parameters: retrievalParametersSchema,
  },
  {
    service: 'reranking',
    inputs: { documents: { kind: 'documents' } },
    output: 'documents',
    parameters: rerankingParametersSchema,
    passThrough: 'documents',
  },
  {
    service: 'llm',
    inputs: { documents: { kind: 'documents', optional: true } },
    output: 'answer',
    parameters: generationParametersSchema.extend({ chat_template: generate.request.shape.chat_template }),
    streaming: true,
  },
]);
