import { MegaNestError, parseOrThrow, invalidField } from '#contracts';
import { guardedFetch } from '#service-kit';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { readAudioForm } from './audio-form.js';
import type { AudioLimits } from './audio-limits.js';
import type { AudioFile } from './transcription.js';

const fields = {
  /** The model is chosen at the start of the service; another name has no effect. */
  model_name_or_path: z.string().nullish(),
  model: z.string().nullish(),
  Language: z.string().nullish().describe('ISO 639-1 code, or auto'),
  language: z.string().nullish().describe('ISO 639-1 code, or auto'),
};

/** OPEA's JSON bodies: a URL (the specification), or the file in base64 (the reference's Whisper server). */
export const asrBodySchema = z.looseObject({
  ...fields,
  url: z.string().min(1).optional().describe('Where the audio is fetched from, or a data: URL'),
  audio: z.string().min(1).optional().describe('The audio file in base64'),
});

/** A request in one of OPEA's three forms. */
export interface AsrRequest {
  audio: AudioFile;
  language?: string;
  model?: string;
  /** A `base64` request gets the reference server's response. */
  form: 'url' | 'base64' | 'multipart';
  ignored: string[];
}

/**
 * Reads a request of any form. Errors: invalid_request, forbidden_url, unreachable_url, payload_too_large, each
 * with the field as `param`.
 */
export async function readAsrRequest(
  http: FastifyRequest,
  limits: AudioLimits,
  signal: AbortSignal,
): Promise<AsrRequest> {
  if (http.isMultipart()) {
    const { audio, fields: given } = await readAudioForm(http, limits.maxBytes);
    if (!audio) throw invalidField('file', 'is required');
    return { audio, form: 'multipart', ...optionsOf(parseOrThrow(z.looseObject(fields), given)) };
  }
  const body = parseOrThrow(asrBodySchema, http.body ?? {});
  if ((body.url === undefined) === (body.audio === undefined))
    throw invalidField('url', 'send either "url", "audio" in base64, or a multipart form with "file"');
  const { url, audio, ...rest } = body;
  const options = optionsOf(rest);
  if (audio !== undefined) return { audio: decodeBase64(audio, limits), form: 'base64', ...options };
  const fetched = url!.startsWith('data:')
    ? decodeBase64(url!, limits, 'url')
    : await fetchAudio(url!, limits, signal);
  return { audio: fetched, form: 'url', ...options };
}

/**
 * Decodes a file in base64, with or without the prefix of a data URL. Errors: invalid_request, payload_too_large.
 */
export function decodeBase64(
  text: string,
  { maxBytes }: Pick<AudioLimits, 'maxBytes'>,
  param = 'audio',
): AudioFile {
  const digits = text.replace(/^data:[\w./+;="-]*;base64,/i, '').replaceAll(/\s/g, '');
  if (digits.length === 0 || digits.length % 4 === 1 || !/^[\w+/-]*={0,2}$/.test(digits))
    throw invalidField(param, 'is no base64');
  const bytes = Buffer.from(digits, 'base64');
  if (bytes.length > maxBytes)
    throw new MegaNestError('payload_too_large', {
      what: 'The audio file',
      limit: `${maxBytes} bytes`,
      param,
    });
  return { bytes, filename: 'audio', mimeType: 'application/octet-stream' };
}

async function fetchAudio(url: string, limits: AudioLimits, signal: AbortSignal): Promise<AudioFile> {
  const { bytes, mimeType } = await guardedFetch(url, {
    maxBytes: limits.maxBytes,
    timeoutMs: limits.linkTimeoutMs,
    allowPrivate: limits.allowPrivateLinks,
    param: 'url',
    signal,
  });
  return { bytes, mimeType, filename: url.split(/[?#]/)[0]?.split('/').at(-1) ?? 'audio' };
}

function optionsOf(given: Record<string, unknown>): Pick<AsrRequest, 'language' | 'model' | 'ignored'> {
  const named = given as { [Name in keyof typeof fields]?: string | null };
  const language = named.Language ?? named.language ?? 'auto';
  const ignored = Object.keys(given).filter((name) => !(name in fields));
  const model = named.model_name_or_path ?? named.model ?? undefined;
  return { ignored, ...(model && { model }), ...(language !== 'auto' && language && { language }) };
}
