import { z } from 'zod';
import { MegaNestError } from '../errors.js';

/**
 * One NATS method, `meganest.<service>.<method>`: its messages as Zod schemas, and one reply or a stream of replies.
 */
export interface RpcMethod<Request extends z.ZodType = z.ZodType, Reply extends z.ZodType = z.ZodType> {
  readonly service: string;
  readonly method: string;
  readonly subject: string;
  readonly request: Request;
  readonly reply: Reply;
  /** True when the reply is a stream of messages of the reply schema. */
  readonly streaming: boolean;
  /** True if it is safe to run it twice, so that a client may retry it on another instance. */
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

/** The properties of a service's model. */
export const modelInfoSchema = z.object({
  id: z.string(),
  revision: z.string().describe('Short content hash of the weights'),
  backend: z.string().describe('The engine that runs it, e.g. onnx-cpu'),
  maxInputTokens: z.int(),
  assumesLength: z
    .literal(true)
    .optional()
    .describe('maxInputTokens is an assumption: the engine does not report it'),
  created: z.int().describe('Unix seconds'),
  dimensions: z.int().optional().describe('Width of the vectors; embedders only'),
  prefixes: z
    .object({ query: z.string(), document: z.string() })
    .optional()
    .describe('Texts that it puts in front of a query and of a document; embedders only'),
  modalities: z
    .array(z.enum(['text', 'image']))
    .optional()
    .describe('Kinds of input that it accepts; absent: text only'),
  defaults: z
    .object({
      max_tokens: z.int().optional(),
      temperature: z.number().optional(),
      top_p: z.number().optional(),
    })
    .optional()
    .describe('Defaults of a request; absent if only a remote engine knows them'),
  followsInstructions: z
    .boolean()
    .optional()
    .describe('False: it quotes and does not follow system prompts; language models only'),
  callsTools: z.boolean().optional().describe('False: it does not call tools; language models only'),
  quotesDocuments: z
    .boolean()
    .optional()
    .describe('True: answers from documents are quoted sentences, which sampling does not change'),
  searchQueriesWithinMs: z
    .int()
    .optional()
    .describe('It writes queries for the search within this time; language models only'),
  evidence: z
    .object({
      passages: z.int().describe('Passages that it reads where a request sets no top_n'),
      tokens: z.int().describe('Limit for the tokens of passages with their neighbours'),
    })
    .optional()
    .describe('What it reads of the documents; absent: only the found passages; language models only'),
  templateVariables: z
    .array(z.string())
    .optional()
    .describe('Which of tools, enable_thinking and reasoning_effort its chat template supports'),
});
export type ModelInfo = z.infer<typeof modelInfoSchema>;

/** `<service>.describe`: the properties of a service's model. */
export function describeMethod<Info extends z.ZodType>(service: string, reply: Info) {
  return defineMethod({ service, method: 'describe', request: z.object({}), reply });
}

/** Whether a request names another model than the served one. An empty name counts as none. */
export function isOtherModel(requested: string | null | undefined, served: string): boolean {
  return (requested ?? '') !== '' && requested !== served;
}

/** Refuses a request for another model than the served one. Errors: model_not_found, which lists the served model. */
export function assertServedModel(requested: string | undefined, served: string): void {
  if (requested === undefined || requested === served) return;
  throw new MegaNestError('model_not_found', { model: requested, available: served, param: 'model' });
}
