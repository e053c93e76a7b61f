import { decodeBase64 } from '#api/audio-api';
import {
  assertJsonBounds,
  bodyBounds,
  MegaNestError,
  parseOrThrow,
  unsupportedField,
  type FileReference,
} from '#platform/contracts';
import {
  listParameters,
  type MegaServiceDefinition,
  type NodeTarget,
  type ParameterType,
} from '#platform/dag';
import { receiveForm, uploadLimits, type UploadLimits } from '#api/dataprep-api';
import { ObjectStore } from '#platform/messaging';
import { chatCompletionRequestSchema, type ChatCompletionRequest } from '#api/openai-api';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

/** The parsed request for a mega service. Its files are in the object store. */
export interface ReceivedMegaServiceRequest {
  chat: ChatCompletionRequest;
  files: FileReference[];
  /** The question is speech in the form of the OPEA reference: `audio` in base64. */
  isSpoken: boolean;
  /** The caller asks for a spoken answer: `modalities` contains `"audio"`. */
  speaks: boolean;
  /** The field `voice` of the OPEA reference. */
  voice?: string;
  /** Removes the files from the object store. */
  readonly discard: () => Promise<void>;
}

/** Fields of the question: `messages`, and the names in the OPEA reference. */
const askingFields = ['messages', 'message', 'text', 'query', 'input', 'initial_query'] as const;

/** Converts requests for mega services, which are multipart forms or JSON, to chat requests. */
@Injectable()
export class MegaServiceBody {
  constructor(
    @Inject(ObjectStore) private readonly objects: ObjectStore,
    @Inject(uploadLimits) private readonly limits: UploadLimits,
  ) {}

  /**
   * Parses a request. Errors: invalid_request, unsupported_parameter, payload_too_large, each with the field as
   * `param`.
   */
  receive(http: FastifyRequest, definition: MegaServiceDefinition): Promise<ReceivedMegaServiceRequest> {
    if (!http.isMultipart())
      return this.receiveFields((http.body ?? {}) as Record<string, unknown>, definition);
    return this.#receiveForm(http, definition);
  }

  /** Parses the fields of a JSON body. Errors: see {@link receive}. */
  async receiveFields(
    body: Readonly<Record<string, unknown>>,
    definition: MegaServiceDefinition,
  ): Promise<ReceivedMegaServiceRequest> {
    const { audio } = body;
    const isSpoken = typeof audio === 'string';
    const files = isSpoken ? [await this.#storeAudio(audio)] : [];
    return this.#complete(files, definition, () => {
      const fields = withoutAudio(body);
      const { rest, ...speech } = isSpoken ? takeSpeech(fields) : { rest: fields, speaks: false };
      return { chat: chatOf(rest, definition, isSpoken), isSpoken, ...speech };
    });
  }

  async #receiveForm(
    http: FastifyRequest,
    definition: MegaServiceDefinition,
  ): Promise<ReceivedMegaServiceRequest> {
    const { files, fields } = await receiveForm(http, this.objects, this.limits);
    return this.#complete(files, definition, () => {
      const chat = chatOf(typedFields(fields, definition), definition, files.length > 0);
      return { chat, isSpoken: false, speaks: false };
    });
  }

  /** Adds the files to a parsed request; removes them where it is refused. */
  async #complete(
    files: FileReference[],
    definition: MegaServiceDefinition,
    parse: () => Omit<ReceivedMegaServiceRequest, 'files' | 'discard'>,
  ): Promise<ReceivedMegaServiceRequest> {
    const discard = async () => {
      await Promise.allSettled(files.map(({ objectId }) => this.objects.delete(objectId)));
    };
    try {
      refuseUnreadFiles(files, definition);
      return { ...parse(), files, discard };
    } catch (error) {
      await discard();
      throw error;
    }
  }

  /** Stores a spoken question of the OPEA reference: a file in base64. */
  async #storeAudio(text: string): Promise<FileReference> {
    const { bytes, ...description } = decodeBase64(text, { maxBytes: this.limits.maxFileBytes });
    return this.objects.put(bytes, description);
  }
}

/**
 * Removes a spoken question. OpenAI's `audio` object, which asks for a spoken answer, stays, so that the schema refuses
 * it.
 */
function withoutAudio(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { audio, ...rest } = body;
  return typeof audio === 'string' ? rest : { ...body };
}

const speechSchema = z.looseObject({
  voice: z.string().min(1).max(64).nullish(),
  modalities: z.array(z.enum(['text', 'audio'])).nullish(),
});

/** Separates the fields for a spoken answer from the other fields. */
function takeSpeech(fields: Readonly<Record<string, unknown>>) {
  const { voice, modalities, ...rest } = parseOrThrow(speechSchema, fields);
  return { rest, speaks: modalities?.includes('audio') ?? false, ...(voice && { voice }) };
}

/** Refuses files for a mega service without a node that reads them, because they would be ignored. */
function refuseUnreadFiles(files: readonly FileReference[], { name, nodes }: MegaServiceDefinition): void {
  if (files.length === 0) return;
  if ([...nodes.values()].some(({ target }) => readsFiles(target))) return;
  throw unsupportedField('files', `${name} does not read files; ingest them first`);
}

function readsFiles({ service, megaService }: Pick<NodeTarget, 'service' | 'megaService'>): boolean {
  if (service === 'dataprep.extract' || service === 'asr') return true;
  return [...(megaService?.nodes.values() ?? [])].some(({ target }) => readsFiles(target));
}

/** The fields of a form. The values are text, so parameters of other types are converted. */
function typedFields(
  fields: Readonly<Record<string, string>>,
  definition: MegaServiceDefinition,
): Record<string, unknown> {
  const types = new Map<string, ParameterType>([['stream', 'boolean']]);
  for (const { node, name, type } of listParameters(definition))
    types.set(name, type).set(`${node}.${name}`, type);
  const typed = Object.entries(fields).filter(([, value]) => value !== '');
  return Object.fromEntries(typed.map(([name, value]) => [name, readField(name, value, types.get(name))]));
}

/** Converts a value. A text that is not a value of the type stays as it is, so that the schema refuses it. */
function readField(name: string, value: string, type: ParameterType | undefined): unknown {
  if (type === undefined || type === 'string') return value;
  assertJsonBounds(value, bodyBounds, name);
  try {
    return JSON.parse(value.trim().replace(/^(True|False)$/, (word) => word.toLowerCase()));
  } catch {
    return value;
  }
}

function chatOf(
  body: Readonly<Record<string, unknown>> | undefined,
  { question }: Pick<MegaServiceDefinition, 'question'>,
  hasFiles: boolean,
): ChatCompletionRequest {
  const { type, max_new_tokens, streaming, ...given } = body ?? {};
  const rest: Record<string, unknown> = given;
  refuseOtherTypes(type);
  const fields = question === undefined ? askingFields : [question, ...askingFields];
  const asking = fields.find((name) => (rest[name] ?? '') !== '');
  const asked = asking === undefined ? undefined : rest[asking];
  for (const name of fields) delete rest[name];
  rest['max_tokens'] ??= max_new_tokens;
  rest['stream'] ??= streaming;
  // A request with files needs no question.
  const messages = asked ?? (hasFiles ? [{ role: 'user', content: '' }] : undefined);
  return namingField(asking, () => parseOrThrow(chatCompletionRequestSchema, { ...rest, messages }));
}

/** Replaces `messages` in an error by the field that the caller sent. */
function namingField<Result>(field: string | undefined, parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof MegaNestError) || field === undefined || !error.param?.startsWith('messages'))
      throw error;
    const param = error.param.replace(/^messages/, field);
    throw MegaNestError.fromBody({
      ...error.toBody(),
      param,
      message: error.message.replace(error.param, param),
    });
  }
}

/** Refuses other types of input than text. `type` is a field of the OPEA reference. */
function refuseOtherTypes(type: unknown): void {
  if (type === undefined || type === null || type === '' || type === 'text') return;
  throw unsupportedField(
    'type',
    `${JSON.stringify(type)} is not supported; send text, or files that contain text`,
  );
}
