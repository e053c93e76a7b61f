import type { z } from 'zod';
import { MegaNestError } from '../errors.js';

/** One NATS method: `meganest.<service>.<method>`, its messages as Zod schemas, one reply or a stream of them. */
export interface RpcMethod<Request extends z.ZodType = z.ZodType, Reply extends z.ZodType = z.ZodType> {
  readonly service: string;
  readonly method: string;
  readonly subject: string;
  readonly request: Request;
  readonly reply: Reply;
  /** True when the reply is a stream of messages of the reply schema. */
  readonly streaming: boolean;
  /** True when running it twice does no harm, so that a client may retry it on another instance. */
  readonly idempotent: boolean;
}

export type RequestOf<Method extends RpcMethod> = z.input<Method['request']>;
export type ParsedRequestOf<Method extends RpcMethod> = z.output<Method['request']>;
export type ReplyOf<Method extends RpcMethod> = z.output<Method['reply']>;

interface MethodDefinition<Request extends z.ZodType, Reply extends z.ZodType> {
  service: string;
  method: string;
  request: Request;
  reply: Reply;
  streaming?: boolean;
  idempotent?: boolean;
}

export function defineMethod<Request extends z.ZodType, Reply extends z.ZodType>(
  definition: MethodDefinition<Request, Reply>,
): RpcMethod<Request, Reply> {
  const { service, method, streaming = false, idempotent = true } = definition;
  return { ...definition, streaming, idempotent, subject: `meganest.${service}.${method}` };
}

/** Refuses a request for a model that is not the one served. Errors: model_not_found, listing what there is. */
export function assertServedModel(requested: string | undefined, served: string): void {
  if (requested === undefined || requested === served) return;
  throw new MegaNestError('model_not_found', { model: requested, available: served, param: 'model' });
}
