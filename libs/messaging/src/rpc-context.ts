import { BaseRpcContext } from '@nestjs/microservices';
import type { CallOptions } from './call-options.js';

export interface RpcContextFields {
  callId: string;
  requestId: string;
  deadline: number;
  traceparent?: string;
  /** Of the signal, which is made when a handler asks for it: many have no use for one. */
  abort: AbortController;
}

/** What a handler knows of its call beside the payload; pass `context.callOptions` on to calls it makes itself. */
export class RpcContext extends BaseRpcContext<[RpcContextFields]> {
  constructor(fields: RpcContextFields) {
    super([fields]);
  }

  get callId(): string {
    return this.args[0].callId;
  }

  get requestId(): string {
    return this.args[0].requestId;
  }

  /** Epoch milliseconds. */
  get deadline(): number {
    return this.args[0].deadline;
  }

  /** Gives the call more time. */
  putOff(deadline: number): void {
    this.args[0].deadline = deadline;
  }

  /** Aborted when the caller cancels, vanishes or runs out of time. */
  get signal(): AbortSignal {
    return this.args[0].abort.signal;
  }

  get callOptions(): CallOptions {
    const { requestId, deadline, traceparent, abort } = this.args[0];
    return { requestId, deadline, traceparent, signal: abort.signal };
  }
}
