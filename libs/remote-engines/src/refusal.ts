import type { Response } from 'undici';
import { MegaNestError } from '#contracts';
import { z } from 'zod';
import { overflowError, type Refusal } from './context-overflow.js';

/** OpenAI's `{error: {message, param, code}}`, TEI's and TGI's `{error, error_type}`, FastAPI's `{detail}`. */
const refusalSchema = z.looseObject({
  error: z
    .union([
      z.string().transform((message) => ({ message, param: undefined, code: undefined, type: undefined })),
      z.looseObject({
        message: z.string(),
        param: z.string().nullish(),
        code: z.unknown().optional(),
        type: z.unknown().optional(),
      }),
    ])
    .optional(),
  message: z.string().optional(),
  detail: z.unknown().optional(),
});

/** The error that stands for an answer which is no success: the caller's fault, too much load, or the engine's. */
export function refusalError(
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  text: string,
  service: string,
): MegaNestError {
  const refusal = readRefusal(text);
  const { message, param } = refusal;
  const overflow = status < 500 ? overflowError(refusal, service) : undefined;
  if (overflow) return overflow;
  if (status === 400 || status === 413 || status === 422)
    return new MegaNestError('invalid_request', { detail: message, param });
  if (status === 429) {
    const retryAfter = Number(headers.get('retry-after')) || 1;
    return new MegaNestError('overloaded', { service, detail: `a busy engine (${message})`, retryAfter });
  }
  const detail = `its engine answered ${status}: ${message}`;
  const unavailable = status === 502 || status === 503 || status === 504;
  return new MegaNestError(unavailable ? 'service_unavailable' : 'bad_upstream', { service, detail });
}

/** What an engine says about a failure, whatever shape it has. */
export function readRefusal(text: string): Refusal & { param: string | null } {
  const { error, message, detail } = refusalSchema.safeParse(parseJson(text)).data ?? {};
  const said = error?.message ?? message ?? (typeof detail === 'string' ? detail : undefined);
  return {
    message: said ?? (text.trim().slice(0, 200) || 'no reason given'),
    param: error?.param ?? null,
    code: error?.code,
    type: error?.type,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
