import { MegaNestError, type RpcMethod } from '#contracts';
import { applyDecorators, Catch, UseFilters, type RpcExceptionFilter } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import { throwError, type Observable } from 'rxjs';

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

/** Without this Nest hands a handler its payload alone. */
function bindArguments(target: object, key: string | symbol): void {
  Payload()(target, key, 0);
  Ctx()(target, key, 1);
}

/** The method that a handler was registered for. */
export function methodOf(extras: Record<string, unknown> | undefined, pattern: string): RpcMethod {
  const method = extras?.['method'];
  if (!method)
    throw new MegaNestError('internal_error', {
      service: 'messaging',
      detail: `${pattern} lacks @RpcHandler`,
    });
  return method as RpcMethod;
}
