import { createHash } from 'node:crypto';
import { asDocuments, type GenerationChunk, type RetrievedDocument } from '#contracts';
import {
  pickParameters,
  runDag,
  type MegaServiceDefinition,
  type ParameterValues,
  type RunHandle,
  type RunOptions,
  type RunReceipt,
} from '#dag';
import { Metrics, ownerOf, type HttpCall } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { languageModelOf, usesLanguageModel } from '../models/model-catalog.js';
import { searches } from './definition-checks.js';
import { degradedSteps, ReceiptStore, type ReceiptKey } from './receipt-store.js';
import { MegaServiceCatalog } from './mega-service-catalog.js';
import { affinityOf, questionOf, type MegaServiceRequest } from './mega-service-request.js';
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
  'files' | 'embeddings' | 'form' | 'chatTemplateKwargs' | 'labels' | 'readFiles'
>;

type Asked = Attachments & Pick<MegaServiceRequest, 'messages' | 'onDocuments'>;

/** Maximum concurrent shadow runs of a gateway. Further requests get no shadow run. */
const mostShadows = 8;

/** Runs a mega service for a conversation. */
@Injectable()
export class MegaServiceRunner {
  constructor(
    @Inject(NodeCaller) private readonly caller: NodeCaller,
    @Inject(ReceiptStore) private readonly receipts: ReceiptStore,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(MegaServiceCatalog) private readonly catalog: MegaServiceCatalog,
    @Inject(CitedBefore) private readonly citedBefore: Pick<CitedBefore, 'watch'>,
  ) {}

  #shadows = 0;

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
    const version = this.#versionFor(definition, owner, request);
    const served = version && !version.canary?.shadow ? version : definition;
    const own = served === definition ? parameters : pickParameters(served, parameters);
    const options = { request, run: this.caller.run, signal, deadline, currentDeadline };
    const handle = runDag({ ...options, definition: served, parameters: own });
    const key = { requestId, owner, megaService: definition.name };
    this.receipts.add(key, handle);
    void handle.settled.then((receipt) => this.#countDegraded(receipt));
    if (version?.canary?.shadow)
      this.#shadow(version, { request, parameters, signal, deadline }, { key, handle });
    return handle;
  }

  /** The new version for a request, if any. The choice is the same for each turn of a conversation. */
  #versionFor(
    { name }: MegaServiceDefinition,
    owner: string,
    { messages }: MegaServiceRequest,
  ): MegaServiceDefinition | undefined {
    const version = this.catalog.canaryOf(name);
    if (!version?.canary) return undefined;
    const digest = createHash('sha1')
      .update(`${owner} ${affinityOf(messages)}`)
      .digest();
    return (100 * digest.readUInt32BE()) / 2 ** 32 < version.canary.percent ? version : undefined;
  }

  /**
   * Runs a new version in parallel to the version that answers. Requests with files get no shadow run, because the
   * files are deleted when the answer ends.
   */
  #shadow(
    definition: MegaServiceDefinition,
    {
      request,
      parameters,
      signal,
      deadline,
    }: Pick<RunOptions, 'signal' | 'deadline'> & { request: MegaServiceRequest; parameters: ParameterValues },
    { key, handle }: { key: ReceiptKey; handle: RunHandle },
  ): void {
    if (this.#shadows >= mostShadows || request.files?.length) return;
    this.#shadows += 1;
    const beside = runDag({
      definition,
      // Replies of the shadow run must not extend the deadline of the request, and its documents are not cited.
      request: { ...request, patience: undefined, onDocuments: undefined },
      parameters: pickParameters(definition, parameters),
      run: this.caller.run,
      signal,
      deadline,
    });
    const answers = Promise.allSettled([handle.result, beside.result]);
    const same = answers.then(([served, other]) => answerOf(served) === answerOf(other));
    this.receipts.addShadow(key, beside, same);
    void beside.settled.then(() => (this.#shadows -= 1));
  }

  #countDegraded(receipt: RunReceipt): void {
    if (receipt.state !== 'ok') return;
    for (const { name, reason } of degradedSteps(receipt))
      this.metrics.countDegraded(receipt.megaService, name, reason);
  }
}

/** The text of an answer, or its error, for comparison. */
function answerOf(settled: PromiseSettledResult<unknown>): string {
  if (settled.status === 'rejected') return `failed: ${String(settled.reason)}`;
  const { text } = (settled.value ?? {}) as { text?: unknown };
  return typeof text === 'string' ? text : JSON.stringify(settled.value);
}
