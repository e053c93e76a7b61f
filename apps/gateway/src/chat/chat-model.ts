import { randomUUID } from 'node:crypto';
import type { ChatMessage, GenerationChunk, ModelInfo } from '#contracts';
import type { RunReceipt } from '#dag';
import type { ChatCompletionRequest, CompletionIdentity } from '#openai-api';
import type { HttpCall } from '#service-kit';

/** A chat under way: its chunks, and what its bodies and headers need to know. */
export interface ChatRun {
  identity: CompletionIdentity;
  chunks: AsyncIterable<GenerationChunk>;
  /** Fields of the request without effect, for `x-meganest-ignored`. */
  ignored: string[];
  /** Where the time went, for mega services. */
  receipt?: () => RunReceipt;
}

/** The model of one chat, opened for its request, which has nothing in it that the model cannot do. */
export interface ChatModel {
  /** A mega service answers, which finds its own documents; otherwise the language model. */
  readonly isMegaService: boolean;
  /** The model calls the tools of the caller. */
  readonly callsTools: boolean;
  /** The model reads images. */
  readonly takesImages: boolean;
  /** Fields of the request without effect. */
  readonly ignored: readonly string[];
  /** Starts an answer. Errors of the generation surface in the chunks. */
  start(request: ChatCompletionRequest, call: HttpCall): ChatRun;
}

/** A new identity of an answer of `model`. */
export function newIdentity(model: string): CompletionIdentity {
  return {
    id: `chatcmpl-${randomUUID().replaceAll('-', '')}`,
    created: Math.floor(Date.now() / 1000),
    model,
  };
}

/** Whether a message instructs the model. */
export function isInstruction({ role }: ChatMessage): boolean {
  return role === 'system' || role === 'developer';
}

/** The instructions as an ignored field, where the model does not follow any because it only quotes. */
export function unfollowedPrompts(
  messages: readonly ChatMessage[],
  { followsInstructions }: ModelInfo,
): string[] {
  return followsInstructions === false && messages.some(isInstruction) ? ['messages.system'] : [];
}
