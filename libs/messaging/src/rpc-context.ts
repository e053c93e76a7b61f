import { BaseRpcContext } from '@nestjs/microservices';
import type { CallOptions } from './call-options.js';

export interface RpcContextFields {
  callId: string;
  requestId: string;
  deadline: number;
  traceparent?: string;
  signal: AbortSignal;
}

/** What a handler knows of its call beside the payload; pass `context.callOptions` on to calls it makes itself. */
export class RpcContext extends BaseRpcContext<[RpcContextFields]> {
  constructor(fields: RpcContextFields) {
    super([fields]);
  }

  get requestId(): string {
    return this.args[0].requestId;
  }

  /** Epoch milliseconds. */
  get deadline(): number {
    return this.args[0].deadline;
  }

  /** Aborted when the caller cancels, vanishes or runs out of time. */
  get signal(): AbortSignal {
    return this.args[0].signal;
  }

  get callOptions(): CallOptions {
    const { requestId, deadline, traceparent, signal } = this.args[0];
    return { requestId, deadline, traceparent, signal };
  }
}
