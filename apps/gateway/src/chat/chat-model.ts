import {
  ImageBudget,
  unsupportedField,
  type ChatMessage,
  type GenerationChunk,
  type ModelInfo,
  type RetrievedDocument,
} from '#platform/contracts';
import type { RunReceipt } from '#platform/dag';
import type { ChatCompletionRequest, CompletionIdentity } from '#api/openai-api';
import type { HttpCall } from '#platform/service-kit';
import { randomUUID } from 'node:crypto';
import { leavesOut } from '../input-files/attached-files.js';
import { sizeOfDataUrl } from '../input-files/input-files.js';

/** A running chat: its chunks, and the data for its bodies and headers. */
export interface ChatRun {
  identity: CompletionIdentity;
  chunks: AsyncIterable<GenerationChunk>;
  /** Fields of the request without effect, for `x-meganest-ignored`. */
  ignored: string[];
  /** Steps that the answer lacks, for `x-meganest-degraded`, besides those of the receipt. */
  degraded: ReadonlySet<string>;
  /** The documents of the search, without those around them; only of mega services. */
  found?: () => readonly RetrievedDocument[];
  /** The receipt of the run, with the time of each node; only of mega services. */
  receipt?: () => RunReceipt;
}

/** The model of one chat, opened for a request that it can answer. */
export interface ChatModel {
  /** True for a mega service, which finds its own documents; false for the language model. */
  readonly isMegaService: boolean;
  /** The language model that it calls. Absent if neither the mega service nor the environment names one. */
  readonly languageModel?: string | undefined;
  /** The model can call the caller's tools. */
  readonly callsTools: boolean;
  /** The model accepts images. */
  readonly takesImages: boolean;
  /**
   * Maximum number of passages that it reads of the files in messages, and cites. Absent: it reads their texts in the
   * messages.
   */
  readonly maxFilePassages: number | undefined;
  /** Steps that its answer lacks so far: `files`, if it does not read all passages of the files. */
  readonly degraded: Set<string>;
  /** Fields of the request without effect. */
  readonly ignored: readonly string[];
  /**
   * The request with the passages that the model reads of the files in messages as its documents. Unchanged without
   * files, and where the model reads their texts in the messages. A mega service reads files itself, after its guard.
   */
  readFiles<Request extends ChatCompletionRequest>(request: Request, call: HttpCall): Promise<Request>;
  /** Starts an answer. Errors of the generation are thrown while the chunks are read. */
  start(request: ChatCompletionRequest, call: HttpCall): ChatRun;
}

/** Creates the identity of a new answer of `model`. */
export function newIdentity(model: string): CompletionIdentity {
  return {
    id: `chatcmpl-${randomUUID().replaceAll('-', '')}`,
    created: Math.floor(Date.now() / 1000),
    model,
  };
}

/** Returns a function that adds the fields of the request that the engine does not take to `ignored`. */
export function noteIgnored(ignored: string[]): (chunk: GenerationChunk) => void {
  return ({ ignored: fields = [] }) => {
    for (const field of fields) if (!ignored.includes(field)) ignored.push(field);
  };
}

/** The step `files`, if a model that reads at most `max` passages of files does not read all of them. */
export function unreadFiles(messages: readonly ChatMessage[], max: number | undefined): Set<string> {
  return new Set(max !== undefined && leavesOut(messages, max) ? ['files'] : []);
}

/** Whether a message has the role `system` or `developer`. */
export function isInstruction({ role }: ChatMessage): boolean {
  return role === 'system' || role === 'developer';
}

/** The ignored field `messages.system`, if the chat has instructions and the model does not follow instructions. */
export function unfollowedPrompts(
  messages: readonly ChatMessage[],
  { followsInstructions }: ModelInfo,
): string[] {
  return followsInstructions === false && messages.some(isInstruction) ? ['messages.system'] : [];
}

/** Kinds of input that a model accepts: `text`, `image`. */
export type Modalities = NonNullable<ModelInfo['modalities']>;

/** The input of mega services, and of models that list no modalities. */
export const textOnly: Modalities = ['text'];

/** The kinds of input of a model; text if it lists none. */
export function modalitiesOf({ modalities = textOnly }: ModelInfo): Modalities {
  return modalities;
}

/**
 * Checks the images of a chat. Errors: unsupported_parameter with the path of the first image, if the model accepts no
 * images; invalid_request with the path of the first image beyond the limit; payload_too_large if the data URLs
 * together exceed the limit.
 */
export function assertTakesImages(messages: readonly ChatMessage[], modalities: Modalities): void {
  const images = messages.flatMap((message) => message.images ?? []);
  if (modalities.includes('image')) {
    const budget = new ImageBudget();
    for (const { url = '', param = 'messages' } of images) budget.add(sizeOfDataUrl(url), param);
    return;
  }
  const [image] = images;
  if (!image) return;
  const param = image.param ?? 'messages';
  const reason = `images are not supported: the model's input is ${modalities.join(' and ')} only`;
  throw unsupportedField(param, reason);
}
