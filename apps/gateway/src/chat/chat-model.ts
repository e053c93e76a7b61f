import {
  ImageBudget,
  unsupportedField,
  type ChatMessage,
  type GenerationChunk,
  type ModelInfo,
} from '#contracts';
import type { RunReceipt } from '#dag';
import type { ChatCompletionRequest, CompletionIdentity } from '#openai-api';
import type { HttpCall } from '#service-kit';
import { randomUUID } from 'node:crypto';
import { sizeOfDataUrl } from '../input-files/input-files.js';

/** A running chat: its chunks, and the data for its bodies and headers. */
export interface ChatRun {
  identity: CompletionIdentity;
  chunks: AsyncIterable<GenerationChunk>;
  /** Fields of the request without effect, for `x-meganest-ignored`. */
  ignored: string[];
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
  /** Fields of the request without effect. */
  readonly ignored: readonly string[];
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
