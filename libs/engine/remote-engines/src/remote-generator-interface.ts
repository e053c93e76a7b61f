import type { ModelInfo, TemplateVariables } from '#platform/contracts';
import type { Generator } from '#engine/generation';
import type { EngineKind } from './engine-kind.js';
import type { RemoteOptions } from './remote-server.js';

export interface RemoteGeneratorOptions extends RemoteOptions {
  /** Id of one of the engine's models; default: the first in its list that chats. */
  readonly model?: string;
  /** Kinds of input that the model accepts; default: text. The engine's model list does not contain them. */
  readonly modalities?: ModelInfo['modalities'];
  /** Kind of the engine; default: found by asking it. */
  readonly kind?: EngineKind;
  /** Maximum tokens of prompt and completion; default: the length that the engine reports. */
  readonly contextLength?: number;
}

/** How an engine gives the reasoning that it does not separate from the text. */
export interface ThoughtForm {
  /** Answers begin within the reasoning, and only its end has a mark: the prompt has the mark of its beginning. */
  begin: boolean;
  /** The engine said it, so that answers do not correct it. */
  isKnown?: boolean;
}

/** A generator with a check of its engine that generates nothing. */
export interface RemoteGenerator extends Generator {
  /** Kind of the engine; absent where several engines serve the model. */
  readonly kind?: EngineKind;
  /** The form of the reasoning in the text of its answers. The reader of the answers corrects it. */
  readonly thoughts: ThoughtForm;
  /** Template variables that ask the model not to reason. Its engine gets them as the fields that it reads. */
  readonly withoutThinking: TemplateVariables;
  /** Checks that the engine answers. Errors: service_unavailable, bad_upstream. */
  check(signal: AbortSignal): Promise<void>;
}
