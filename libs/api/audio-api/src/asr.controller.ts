import { invalidField, MegaNestError, parseOrThrow } from '#platform/contracts';
import { ApiOperation, Call, guardedFetch, setIgnored, type HttpCall } from '#platform/service-kit';
import { Controller, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { audioLimits, readAudioForm, type AudioLimits } from './audio-request.js';
import { beginTranscript, finishTranscript, Transcription, type AudioFile } from './transcription.js';

const fields = {
  /** The model is chosen at the start of the service; another name has no effect. */
  model_name_or_path: z.string().nullish(),
  model: z.string().nullish(),
  Language: z.string().nullish().describe('ISO 639-1 code, or auto'),
  language: z.string().nullish().describe('ISO 639-1 code, or auto'),
};

/** OPEA's JSON bodies: a URL (the specification), or the file in base64 (the reference's Whisper server). */
const asrBodySchema = z.looseObject({
  ...fields,
  url: z.string().min(1).optional().describe('The URL of the audio, or a data: URL'),
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
async function readAsrRequest(
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
    throw invalidField(param, 'is not base64');
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

const answerSchema = z.object({
  text: z.string(),
  asr_result: z.string().optional().describe('The same text, for requests with base64 audio'),
});

/** OPEA's speech to text. */
@Controller()
export class AsrController {
  constructor(
    @Inject(Transcription) private readonly transcription: Transcription,
    @Inject(audioLimits) private readonly limits: AudioLimits,
  ) {}

  /** Takes audio by URL, in base64, or as a form. The name of another model is reported as ignored. */
  @Post('v1/asr')
  @ApiOperation({
    summary: 'Transcribe an audio file (OPEA)',
    answer: answerSchema,
    body: asrBodySchema,
    consumes: ['application/json', 'multipart/form-data'],
  })
  async transcribe(
    @Req() http: FastifyRequest,
    @Res() reply: FastifyReply,
    @Call() call: HttpCall,
  ): Promise<void> {
    const { audio, language, model, form, ignored } = await readAsrRequest(http, this.limits, call.signal);
    const request = { audio, language, task: 'transcribe' as const, details: false };
    const begun = await beginTranscript(this.transcription.transcribe(request, call));
    const otherModel = model !== undefined && model !== begun.audio.model ? ['model_name_or_path'] : [];
    setIgnored(reply, [...ignored, ...otherModel, ...begun.audio.ignored]);
    const { text } = await finishTranscript(begun);
    await reply.status(200).send({ text, ...(form === 'base64' && { asr_result: text }) });
  }
}
