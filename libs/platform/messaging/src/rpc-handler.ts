import type { Priority } from '#platform/foundation';
import { MegaNestError, type RpcMethod } from '#platform/contracts';
import { applyDecorators, Catch, UseFilters, type RpcExceptionFilter } from '@nestjs/common';
import { Ctx, MessagePattern, Payload, BaseRpcContext } from '@nestjs/microservices';
import { throwError, type Observable } from 'rxjs';
import type { CallOptions } from './call.js';

/** Keeps thrown errors as they are; Nest's own filter would turn unknown ones into "Internal server error". */
@Catch()
class PassThroughFilter implements RpcExceptionFilter {
  catch(exception: unknown): Observable<never> {
    return throwError(() => exception);
  }
}

/**
 * Marks a controller's method as the handler of an RPC method: it gets the parsed request and the {@link RpcContext},
 * and returns the reply or, for a streaming method, an async iterable of replies.
 */
export function RpcHandler(method: RpcMethod): MethodDecorator {
  return applyDecorators(
    MessagePattern(method.subject, { method }),
    UseFilters(PassThroughFilter),
    bindArguments,
  );
}

/** Binds the payload and the context; Nest would pass only the payload. */
function bindArguments(target: object, key: string | symbol): void {
  Payload()(target, key, 0);
  Ctx()(target, key, 1);
}

/** Returns the method of a registered handler. */
export function methodOf(extras: Record<string, unknown> | undefined, pattern: string): RpcMethod {
  const method = extras?.['method'];
  if (!method)
    throw new MegaNestError('internal_error', {
      service: 'messaging',
      detail: `${pattern} lacks @RpcHandler`,
    });
  return method as RpcMethod;
}

export interface RpcContextFields {
  callId: string;
  requestId: string;
  deadline: number;
  traceparent?: string;
  priority?: Priority;
  /** The model that the caller means. The request itself may name it, too. */
  model?: string;
  /** Controller of the signal, created on demand, because many handlers do not use it. */
  abort: AbortController;
}

/** The context of a handler's call, in addition to the payload; pass `context.callOptions` to further calls. */
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

  get priority(): Priority {
    return this.args[0].priority ?? 'interactive';
  }

  /** The model that the caller means; undefined for the one that the service chooses. */
  get model(): string | undefined {
    return this.args[0].model;
  }

  get callOptions(): CallOptions {
    const { requestId, deadline, traceparent, priority, abort } = this.args[0];
    return { requestId, deadline, traceparent, priority, signal: abort.signal };
  }
}
