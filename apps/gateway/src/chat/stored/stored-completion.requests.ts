import { parseOrThrow } from '#contracts';
import type { ChatCompletionRequest } from '#openai-api';
import { metadataSchema } from '#responses';
import { z } from 'zod';

const page = { limit: z.coerce.number().int().min(1).max(100).default(20), after: z.string().optional() };
const order = z.enum(['asc', 'desc']).default('asc');

/** Query of the list; metadata comes as `metadata[name]=value`. */
export const completionListQuerySchema = z
  .looseObject({ ...page, order, model: z.string().optional() })
  .transform(({ limit, after, order: direction, model, ...rest }) => ({
    limit,
    after,
    order: direction,
    model,
    metadata: Object.fromEntries(
      Object.entries(rest).flatMap(([name, value]) => {
        const key = /^metadata\[(.+)\]$/.exec(name)?.[1];
        return key === undefined ? [] : [[key, String(value)]];
      }),
    ) as Record<string, string>,
  }));
export type CompletionListQuery = z.output<typeof completionListQuerySchema>;

export const messageListQuerySchema = z.object({ ...page, order });
export type MessageListQuery = z.output<typeof messageListQuerySchema>;

export const updateCompletionSchema = z.object({
  metadata: metadataSchema.nullable().transform((value) => value ?? {}),
});
export type UpdateCompletion = z.output<typeof updateCompletionSchema>;

const keepFieldsSchema = z.object({
  store: z.boolean().nullish(),
  metadata: metadataSchema.nullish(),
});

/** A completion is to be kept with these metadata. */
export interface KeepWish {
  metadata: Record<string, string>;
}

/**
 * Takes OpenAI's `store` and `metadata` out of a request. `wish` is absent where the completion is not to be kept: its
 * metadata then have no effect and stay in the request, to be named as ignored. Errors: invalid_request.
 */
export function takeKeepWish(given: ChatCompletionRequest): {
  request: ChatCompletionRequest;
  wish?: KeepWish;
} {
  const { store: storeField, metadata: metadataField, ...extra } = given.extra;
  const { store, metadata } = parseOrThrow(keepFieldsSchema, { store: storeField, metadata: metadataField });
  if (store === true) return { request: { ...given, extra }, wish: { metadata: metadata ?? {} } };
  return { request: { ...given, extra: metadata ? { ...extra, metadata } : extra } };
}
