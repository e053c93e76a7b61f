import type { ChatMessage, GenerationChunk, RetrievedDocument } from '#contracts';
import { runDag, type MegaServiceDefinition, type NodeContext, type RunReceipt } from '#dag';
import type { HttpCall } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { ReceiptStore } from './receipt-store.js';
import { NodeCaller, type MegaServiceRequest } from './node-caller.js';

export interface MegaServiceRun {
  chunks: AsyncIterable<GenerationChunk>;
  /** The documents that the answer was grounded on, known once its first chunk is there. */
  documents: () => readonly RetrievedDocument[];
  receipt: () => RunReceipt;
}

/** Runs a mega service for a conversation. */
@Injectable()
export class MegaServiceRunner {
  constructor(
    @Inject(NodeCaller) private readonly caller: NodeCaller,
    @Inject(ReceiptStore) private readonly receipts: ReceiptStore,
  ) {}

  /** Errors of the nodes surface in `chunks`, before the first one where nothing was generated yet. */
  run(
    definition: MegaServiceDefinition,
    messages: ChatMessage[],
    parameters: Readonly<Record<string, unknown>>,
    call: HttpCall,
  ): MegaServiceRun {
    const { requestId, traceparent, deadline, signal } = call;
    const request: MegaServiceRequest = { query: questionOf(messages), messages, requestId, traceparent };
    let documents: RetrievedDocument[] = [];
    const run = (context: NodeContext) => {
      if (context.service === 'llm') documents = (context.inputs['documents'] ?? []) as RetrievedDocument[];
      return this.caller.run(context);
    };
    const handle = runDag({ definition, request, parameters, run, signal, deadline });
    this.receipts.add(requestId, definition.name, () => handle.receipt());
    return {
      chunks: handle.stream as AsyncIterable<GenerationChunk>,
      documents: () => documents,
      receipt: () => handle.receipt(),
    };
  }
}

/** The last thing that the user said. */
function questionOf(messages: readonly ChatMessage[]): string {
  return messages.findLast(({ role }) => role === 'user')?.content ?? messages.at(-1)?.content ?? '';
}
