import {
  MegaNestError,
  retrievedDocumentSchema,
  type embed,
  type GenerationChunk,
  type ReplyOf,
  type RetrievedDocument,
} from '#platform/contracts';
import {
  pickParameters,
  type MegaServiceDefinition,
  type ParameterValues,
  type RunHandle,
  type RunReceipt,
} from '#platform/dag';
import { ignoredFields, type EmbeddingRequest } from '#api/openai-api';
import { Metrics, type HttpCall } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { ReceivedMegaServiceRequest } from './mega-service-body.js';
import { inNamesOfHere, questionOf } from './mega-service-request.js';
import { MegaServiceRunner } from './mega-service-runner.js';
import { assertSearchable } from './definition-checks.js';

const passages = z.array(retrievedDocumentSchema.omit({ similarity: true }));

/** Schema of {@link documentsAnswer}, for the OpenAPI document. */
export const documentsAnswerSchema = z.object({
  id: z.string(),
  initial_query: z.string(),
  reranked_docs: passages.optional(),
  retrieved_docs: passages.optional(),
});

type DocumentsAnswer = z.output<typeof documentsAnswerSchema>;

/** Services that give ranked passages. */
const ranking: ReadonlySet<string> = new Set(['reranking', 'retrieval.loop']);

/** The answer of the OPEA reference's retrieval tool: passages with scores, in a field named after the last step. */
function documentsAnswer(
  documents: readonly RetrievedDocument[],
  { nodes, output }: MegaServiceDefinition,
  { id, query }: { id: string; query: string },
): DocumentsAnswer {
  const found = documents.map(({ id: passage, text, score, metadata }) => ({
    id: passage,
    text,
    score,
    metadata,
  }));
  const reranked = ranking.has(nodes.get(output)?.target.service ?? '');
  return { id, initial_query: query, [reranked ? 'reranked_docs' : 'retrieved_docs']: found };
}

interface MegaServiceOutput<Body> {
  body: Body;
  /** Fields of the request without effect. */
  ignored: string[];
  receipt: RunReceipt;
}

/** Runs mega services that return documents or vectors. Errors: content_filter if a guard refuses the request. */
@Injectable()
export class MegaServiceOutputs {
  constructor(
    @Inject(MegaServiceRunner) private readonly runner: MegaServiceRunner,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  async documents(
    definition: MegaServiceDefinition,
    { chat, files }: Pick<ReceivedMegaServiceRequest, 'chat' | 'files'>,
    call: HttpCall,
  ): Promise<MegaServiceOutput<DocumentsAnswer>> {
    if (files.length === 0) assertSearchable(definition, chat.messages);
    const extra = inNamesOfHere(chat.extra);
    const fields: ParameterValues = { ...extra, ...chat.parameters };
    const parameters = pickParameters(definition, fields);
    const ignored = ignoredFields(extra, new Set(Object.keys(parameters)));
    const { output, receipt } = await this.#result(
      definition,
      this.runner.start(definition, { messages: chat.messages, files }, parameters, call),
    );
    const query = questionOf(chat.messages);
    const documents = output as RetrievedDocument[];
    return { body: documentsAnswer(documents, definition, { id: call.requestId, query }), ignored, receipt };
  }

  async vectors(
    definition: MegaServiceDefinition,
    { inputs, model, dimensions, input_type }: EmbeddingRequest,
    call: HttpCall,
  ): Promise<ReplyOf<typeof embed>> {
    const parameters = pickParameters(definition, { dimensions });
    const embeddings = { inputs, model, input_type };
    const { output } = await this.#result(
      definition,
      this.runner.start(definition, { messages: [], embeddings }, parameters, call),
    );
    return output as ReplyOf<typeof embed>;
  }

  #result(definition: MegaServiceDefinition, handle: RunHandle) {
    return this.metrics.measure(definition.name, async () => {
      const output = await handle.result;
      if (isRefusal(output)) throw new MegaNestError('content_filter', { detail: output.text });
      return { output, receipt: handle.receipt() };
    });
  }
}

/** Whether a guard refused the request. The refusal has the form of an answer for each kind of output. */
function isRefusal(output: unknown): output is GenerationChunk {
  return (
    typeof output === 'object' &&
    output !== null &&
    'finishReason' in output &&
    output.finishReason === 'content_filter'
  );
}
