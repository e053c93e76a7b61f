import { decodeBase64 } from '#audio-api';
import { MegaNestError, parseOrThrow, unsupportedField, type FileReference } from '#contracts';
import { listParameters, type MegaServiceDefinition, type NodeTarget, type ParameterType } from '#dag';
import { receiveForm, uploadLimits, type UploadLimits } from '#dataprep-api';
import { ObjectStore } from '#messaging';
import { chatCompletionRequestSchema, type ChatCompletionRequest } from '#openai-api';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

/** A request as its client sent it, its files already in the object store. */
export interface ReceivedMegaServiceRequest {
  chat: ChatCompletionRequest;
  files: FileReference[];
  /** The question came as the reference sends speech: `audio` in base64. */
  isSpoken: boolean;
  /** The answer is to be spoken too: `"audio"` among `modalities`. */
  speaks: boolean;
  /** The reference's name of a voice. */
  voice?: string;
  /** Removes the files from the object store. */
  readonly discard: () => Promise<void>;
}

/** The reference's names of what is asked, beside `messages`. */
const askingFields = ['messages', 'message', 'text', 'query', 'input', 'initial_query'] as const;

/** Turns the requests for mega services, multipart forms or JSON, into chat requests. */
@Injectable()
export class MegaServiceBody {
  constructor(
    @Inject(ObjectStore) private readonly objects: ObjectStore,
    @Inject(uploadLimits) private readonly limits: UploadLimits,
  ) {}

  /** Errors: invalid_request, unsupported_parameter, payload_too_large, each with the field as `param`. */
  async receive(
    http: FastifyRequest,
    definition: MegaServiceDefinition,
  ): Promise<ReceivedMegaServiceRequest> {
    const isForm = http.isMultipart();
    const form = isForm ? await receiveForm(http, this.objects, this.limits) : undefined;
    const files = form?.files ?? [];
    const body = form ? undefined : ((http.body ?? {}) as Record<string, unknown>);
    const discard = async () => {
      await Promise.allSettled(files.map(({ objectId }) => this.objects.delete(objectId)));
    };
    try {
      if (typeof body?.['audio'] === 'string') files.push(await this.#storeAudio(body['audio']));
      refuseUnreadFiles(files, definition);
      const fields = form ? typedFields(form.fields, definition) : withoutAudio(body);
      const isSpoken = typeof body?.['audio'] === 'string';
      const { rest, ...speech } = isSpoken ? takeSpeech(fields) : { rest: fields, speaks: false };
      return { chat: chatOf(rest, files.length > 0), files, isSpoken, ...speech, discard };
    } catch (error) {
      await discard();
      throw error;
    }
  }

  /** The reference's spoken questions: a file in base64. */
  async #storeAudio(text: string): Promise<FileReference> {
    const { bytes, ...description } = decodeBase64(text, { maxBytes: this.limits.maxFileBytes });
    return this.objects.put(bytes, description);
  }
}

/** `audio` as an object is OpenAI's wish for a spoken answer, which stays for the schema to refuse. */
function withoutAudio(body: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const { audio, ...rest } = body;
  return typeof audio === 'string' ? rest : { ...body };
}

const speechSchema = z.looseObject({
  voice: z.string().min(1).max(64).nullish(),
  modalities: z.array(z.enum(['text', 'audio'])).nullish(),
});

/** How the answer to a spoken question is to be spoken, and the fields beside that. */
function takeSpeech(fields: Readonly<Record<string, unknown>>) {
  const { voice, modalities, ...rest } = parseOrThrow(speechSchema, fields);
  return { rest, speaks: modalities?.includes('audio') ?? false, ...(voice && { voice }) };
}

/** Files that no node reads would be dropped silently. */
function refuseUnreadFiles(files: readonly FileReference[], { name, nodes }: MegaServiceDefinition): void {
  if (files.length === 0) return;
  if ([...nodes.values()].some(({ target }) => readsFiles(target))) return;
  throw unsupportedField('files', `${name} reads no files; ingest them first`);
}

function readsFiles({ service, megaService }: Pick<NodeTarget, 'service' | 'megaService'>): boolean {
  if (service === 'dataprep.extract' || service === 'asr') return true;
  return [...(megaService?.nodes.values() ?? [])].some(({ target }) => readsFiles(target));
}

/** A form's fields are text; those that a parameter of another type has are read as such. */
function typedFields(
  fields: Readonly<Record<string, string>>,
  definition: MegaServiceDefinition,
): Record<string, unknown> {
  const types = new Map<string, ParameterType>([['stream', 'boolean']]);
  for (const { node, name, type } of listParameters(definition))
    types.set(name, type).set(`${node}.${name}`, type);
  const typed = Object.entries(fields).filter(([, value]) => value !== '');
  return Object.fromEntries(typed.map(([name, value]) => [name, readField(value, types.get(name))]));
}

/** Text that is no value of the type stays as it is, for the schema to refuse. */
function readField(value: string, type: ParameterType | undefined): unknown {
  if (type === undefined || type === 'string') return value;
  try {
    return JSON.parse(value.trim().replace(/^(True|False)$/, (word) => word.toLowerCase()));
  } catch {
    return value;
  }
}

function chatOf(
  body: Readonly<Record<string, unknown>> | undefined,
  hasFiles: boolean,
): ChatCompletionRequest {
  const { type, max_new_tokens, streaming, ...given } = body ?? {};
  const rest: Record<string, unknown> = given;
  refuseOtherTypes(type);
  const asking = askingFields.find((name) => (rest[name] ?? '') !== '');
  const asked = asking === undefined ? undefined : rest[asking];
  for (const name of askingFields) delete rest[name];
  if (rest['max_tokens'] === undefined && max_new_tokens !== undefined) rest['max_tokens'] = max_new_tokens;
  if (rest['stream'] === undefined && streaming !== undefined) rest['stream'] = streaming;
  // Files need no words beside them.
  const messages = asked ?? (hasFiles ? [{ role: 'user', content: '' }] : undefined);
  return namingField(asking, () => parseOrThrow(chatCompletionRequestSchema, { ...rest, messages }));
}

/** An error in what is asked names the field that the caller sent. */
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

/** The reference's way to say what is sent. */
function refuseOtherTypes(type: unknown): void {
  if (type === undefined || type === '' || type === 'text') return;
  throw unsupportedField(
    'type',
    `${JSON.stringify(type)} is not supported; send text, or files that hold text`,
  );
}
