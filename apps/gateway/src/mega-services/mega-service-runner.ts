import { asDocuments, type GenerationChunk, type RetrievedDocument } from '#platform/contracts';
import {
  runDag,
  type MegaServiceDefinition,
  type ParameterValues,
  type RunHandle,
  type RunReceipt,
} from '#platform/dag';
import { Metrics, ownerOf, type HttpCall } from '#platform/service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { languageModelOf, usesLanguageModel } from '../models/model-catalog.js';
import { searches } from './definition-checks.js';
import { degradedSteps, ReceiptStore } from './receipt-store.js';
import { questionOf, type MegaServiceRequest } from './mega-service-request.js';
import { NodeCaller } from './nodes/node-caller.js';
import { CitedBefore } from './search/cited-before.js';

/** A started run of a mega service that answers a chat. */
export interface MegaServiceRun {
  chunks: AsyncIterable<GenerationChunk>;
  /** The documents that the answer is based on. Complete at the first chunk. */
  documents: () => readonly RetrievedDocument[];
  /** The passages around them, which the answer may cite, too. */
  neighbours: () => readonly RetrievedDocument[];
  receipt: () => RunReceipt;
}

/** Parts of a request other than its conversation. */
export type Attachments = Pick<
  MegaServiceRequest,
  'files' | 'embeddings' | 'form' | 'chatTemplateKwargs' | 'labels' | 'openAgentTools' | 'readFiles'
>;

type Asked = Attachments & Pick<MegaServiceRequest, 'messages' | 'onDocuments'>;

/** Runs a mega service for a conversation. */
@Injectable()
export class MegaServiceRunner {
  constructor(
    @Inject(NodeCaller) private readonly caller: NodeCaller,
    @Inject(ReceiptStore) private readonly receipts: ReceiptStore,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(CitedBefore) private readonly citedBefore: Pick<CitedBefore, 'watch'>,
  ) {}

  /** Starts a run that answers a chat. Errors of the nodes are thrown while `chunks` is read. */
  run(
    definition: MegaServiceDefinition,
    asked: Asked,
    parameters: ParameterValues,
    call: HttpCall,
  ): MegaServiceRun {
    let documents: readonly RetrievedDocument[] = [];
    let neighbours: readonly RetrievedDocument[] = [];
    const onDocuments: MegaServiceRequest['onDocuments'] = (read, around) => {
      documents = read;
      neighbours = asDocuments(around);
    };
    const handle = this.start(definition, { ...asked, onDocuments }, parameters, call);
    const { messages } = asked;
    const { owner = ownerOf({}) } = call;
    const answer = { messages, owner, documents: () => [...documents, ...neighbours] };
    return {
      chunks: this.citedBefore.watch(handle.stream as AsyncIterable<GenerationChunk>, answer),
      documents: () => documents,
      neighbours: () => neighbours,
      receipt: () => handle.receipt(),
    };
  }

  /** Starts a run with any kind of output. Errors of the nodes reject `result`. */
  start(
    definition: MegaServiceDefinition,
    asked: Asked,
    parameters: ParameterValues,
    { requestId, traceparent, deadline, patience, signal, owner = ownerOf({}) }: HttpCall,
  ): RunHandle {
    const { collection } = parameters;
    const request: MegaServiceRequest = {
      ...asked,
      collection: typeof collection === 'string' ? collection : undefined,
      query: questionOf(asked.messages),
      asksModel: usesLanguageModel(definition),
      retrieves: searches(definition),
      searchScope: JSON.stringify([definition.name, collection ?? '']),
      owner,
      languageModel: languageModelOf(definition),
      requestId,
      traceparent,
      deadline,
      patience,
    };
    const currentDeadline = patience && (() => patience.at);
    const options = { request, run: this.caller.run, signal, deadline, currentDeadline };
    const handle = runDag({ ...options, definition, parameters });
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
