import type { ChatMessage, GenerationChunk, RetrievedDocument } from '#contracts';
import {
  runDag,
  type MegaServiceDefinition,
  type NodeContext,
  type ParameterValues,
  type RunHandle,
  type RunReceipt,
} from '#dag';
import { Metrics, ownerOf, type HttpCall } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { usesLanguageModel } from '../models/model-catalog.js';
import { degradedSteps } from './degraded.js';
import { ReceiptStore } from './receipt-store.js';
import { questionOf, type MegaServiceRequest } from './mega-service-request.js';
import { NodeCaller } from './nodes/node-caller.js';

export interface MegaServiceRun {
  chunks: AsyncIterable<GenerationChunk>;
  /** The documents that the answer was grounded on, known once its first chunk is there. */
  documents: () => readonly RetrievedDocument[];
  receipt: () => RunReceipt;
}

/** What a request brings beside its conversation. */
export type Attachments = Pick<MegaServiceRequest, 'files' | 'embeddings' | 'form'>;

/** Runs a mega service for a conversation. */
@Injectable()
export class MegaServiceRunner {
  constructor(
    @Inject(NodeCaller) private readonly caller: NodeCaller,
    @Inject(ReceiptStore) private readonly receipts: ReceiptStore,
    @Inject(Metrics) private readonly metrics: Metrics,
  ) {}

  /** Errors of the nodes surface in `chunks`, before the first one where nothing was generated yet. */
  run(
    definition: MegaServiceDefinition,
    messages: ChatMessage[],
    parameters: ParameterValues,
    call: HttpCall,
    attachments: Attachments = {},
  ): MegaServiceRun {
    let documents: RetrievedDocument[] = [];
    const watch = ({ service, inputs }: NodeContext) => {
      if (service === 'llm') documents = (inputs['documents'] ?? []) as RetrievedDocument[];
    };
    const handle = this.#start(definition, { ...attachments, messages }, parameters, call, watch);
    return {
      chunks: handle.stream as AsyncIterable<GenerationChunk>,
      documents: () => documents,
      receipt: () => handle.receipt(),
    };
  }

  /** For mega services whose output is something else than an answer. Errors of the nodes reject `result`. */
  start(
    definition: MegaServiceDefinition,
    messages: ChatMessage[],
    parameters: ParameterValues,
    call: HttpCall,
    attachments: Attachments = {},
  ): RunHandle {
    return this.#start(definition, { ...attachments, messages }, parameters, call);
  }

  #start(
    definition: MegaServiceDefinition,
    asked: Attachments & { messages: ChatMessage[] },
    parameters: ParameterValues,
    { requestId, traceparent, deadline, patience, signal, owner = ownerOf({}) }: HttpCall,
    watch?: (context: NodeContext) => void,
  ): RunHandle {
    const request: MegaServiceRequest = {
      ...asked,
      query: questionOf(asked.messages),
      asksModel: usesLanguageModel(definition),
      requestId,
      traceparent,
      deadline,
      patience,
    };
    const run = (context: NodeContext) => {
      watch?.(context);
      return this.caller.run(context);
    };
    const currentDeadline = patience && (() => patience.at);
    const handle = runDag({ definition, request, parameters, run, signal, deadline, currentDeadline });
    this.receipts.add({ requestId, owner, megaService: definition.name }, handle);
    void handle.settled.then((receipt) => this.#countDegraded(receipt));
    return handle;
  }

  #countDegraded(receipt: RunReceipt): void {
    if (receipt.state !== 'ok') return;
    for (const { name, reason } of degradedSteps(receipt))
      this.metrics.countDegraded(receipt.megaService, name, reason);
  }
}
