import type { ChatMessage } from '#contracts';
import type { ReadConstraint } from '#grammar';
import type { EngineChoice, EngineSettings, DecoderConfig, Device } from '#models';
import type { DeltaMemory } from './backends/delta-backend.js';
import type { EngineLoad, GenerateRequest } from './generator-interface.js';

/** What the decoder worker needs to load its model. */
export interface GeneratorSettings {
  readonly id: string;
  readonly directory: string;
  readonly config: DecoderConfig;
  readonly device: Device;
  readonly threads: number;
  readonly maxAnswers: number;
  readonly engine: EngineSettings;
  /** How the compiled graph keeps keys and values; `auto`: int8 where float would not fit the memory. */
  readonly keyValues: 'auto' | 'int8' | 'float';
  readonly memory: DeltaMemory;
}

export interface GeneratorReady extends EngineChoice {
  /** What runs the model, e.g. `onnx-cpu compiled int8` or `onnx-cpu exporter`. */
  readonly backend: string;
}

export type GeneratorCall =
  | { readonly kind: 'load' }
  | {
      readonly kind: 'generate';
      readonly request: GenerateRequest;
      /** What `request.parameters.constraint` is. */
      readonly constraint?: ReadConstraint;
    }
  | {
      readonly kind: 'count';
      readonly messages: readonly ChatMessage[] | string;
      readonly chatTemplateKwargs?: Readonly<Record<string, unknown>>;
    };

/** Tokens of the prompt; for `load` what was asked. */
export type GeneratorResult = number | EngineLoad;
