import type { ChatMessage } from '#contracts';
import type { DecoderConfig } from '../model/model-config.js';
import type { Device } from '../runtime/execution-providers.js';
import type { GenerateRequest } from './generator-interface.js';

/** What the decoder worker needs to load its model. */
export interface GeneratorSettings {
  readonly id: string;
  readonly directory: string;
  readonly onnxFile: string;
  readonly config: DecoderConfig;
  readonly device: Device;
  readonly threads: number;
  readonly maxAnswers: number;
}

export interface GeneratorReady {
  readonly backend: string;
}

export type GeneratorCall =
  | { readonly kind: 'generate'; readonly request: GenerateRequest }
  | {
      readonly kind: 'count';
      readonly messages: readonly ChatMessage[] | string;
      readonly chatTemplateKwargs?: Readonly<Record<string, unknown>>;
    };

/** Tokens of the prompt. */
export type GeneratorResult = number;
