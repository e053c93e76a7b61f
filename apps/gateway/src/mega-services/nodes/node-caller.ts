import type { NodeRunner } from '#dag';
import { RpcClient } from '#messaging';
import { Inject, Injectable } from '@nestjs/common';
import { AnnouncedServices } from './announced-services.js';
import { callEmbedding, callEmbedInputs, callReranking, callRetrieval } from './documents.js';
import { callAnswerGuardrail, callGuardrail } from './guardrail.js';
import { callTranscribe } from './speech.js';
import { callExtract, callFaq, callGenerate, callSummarise } from './writing.js';
import type { MegaServiceRequest, NodeCall } from '../mega-service-request.js';

/** By the name that a YAML file uses. */
const callers: Readonly<Record<string, (call: NodeCall) => ReturnType<NodeRunner>>> = {
  embedding: callEmbedding,
  'embedding.inputs': callEmbedInputs,
  retrieval: callRetrieval,
  reranking: callReranking,
  llm: callGenerate,
  'llm.summarise': callSummarise,
  'llm.faq': callFaq,
  'dataprep.extract': callExtract,
  asr: callTranscribe,
  guardrail: callGuardrail,
  'guardrail.answer': callAnswerGuardrail,
};

/** Calls the service behind a node of a DAG over NATS. */
@Injectable()
export class NodeCaller {
  constructor(
    @Inject(RpcClient) private readonly client: RpcClient,
    @Inject(AnnouncedServices) private readonly announced: AnnouncedServices,
  ) {}

  readonly run: NodeRunner = (context) => {
    const caller = callers[context.service];
    const request = context.request as MegaServiceRequest;
    const { requestId, traceparent, patience } = request;
    const { deadline, signal } = context;
    // An attempt with a timeout of its own has that one alone.
    const times = deadline === request.deadline ? { deadline, patience } : { deadline };
    const options = { requestId, traceparent, ...times, signal };
    return caller
      ? caller({ client: this.client, context, request, options })
      : this.announced.call(context, options);
  };
}
