import {
  MegaNestError,
  type GenerationChunk,
  type RetrievedDocument,
  type embed,
  type ReplyOf,
} from '#contracts';
import {
  pickParameters,
  type MegaServiceDefinition,
  type ParameterValues,
  type RunHandle,
  type RunReceipt,
} from '#dag';
import { ignoredFields, type EmbeddingRequest } from '#openai-api';
import { Metrics, type HttpCall } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { questionOf } from './mega-service-request.js';
import { inNamesOfHere } from './reference-names.js';
import { assertSearchable } from './searched-question.js';
import { MegaServiceRunner } from './mega-service-runner.js';
import { documentsAnswer } from './documents-answer.js';
import type { ReceivedMegaServiceRequest } from './mega-service-body.js';

export interface MegaServiceOutput<Body> {
  body: Body;
  /** Fields of the request without effect. */
  ignored: string[];
  receipt: RunReceipt;
}

/** Runs mega services whose output is something else than an answer. Errors: content_filter where a guard refuses. */
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
  ): Promise<MegaServiceOutput<object>> {
    if (files.length === 0) assertSearchable(definition, chat.messages);
    const extra = inNamesOfHere(chat.extra);
    const fields: ParameterValues = { ...extra, ...chat.parameters };
    const parameters = pickParameters(definition, fields);
    const ignored = ignoredFields(extra, new Set(Object.keys(parameters)));
    const { output, receipt } = await this.#result(
      definition,
      this.runner.start(definition, chat.messages, parameters, call, { files }),
    );
    const query = questionOf(chat.messages);
    const documents = output as RetrievedDocument[];
    return { body: documentsAnswer(documents, definition, { id: call.requestId, query }), ignored, receipt };
  }

  async vectors(
    definition: MegaServiceDefinition,
    { inputs, model, dimensions }: EmbeddingRequest,
    call: HttpCall,
  ): Promise<ReplyOf<typeof embed>> {
    const parameters = pickParameters(definition, { dimensions });
    const embeddings = { inputs, model };
    const { output } = await this.#result(
      definition,
      this.runner.start(definition, [], parameters, call, { embeddings }),
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

/** A guard's verdict speaks in the shape of an answer, whatever the mega service gives. */
function isRefusal(output: unknown): output is GenerationChunk {
  return (
    typeof output === 'object' &&
    output !== null &&
    'finishReason' in output &&
    output.finishReason === 'content_filter'
  );
}
