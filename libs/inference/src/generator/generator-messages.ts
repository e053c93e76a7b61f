import type { ChatMessage } from '#contracts';
import type { DecoderConfig } from '../model/model-config.js';
import type { Device } from '../runtime/execution-providers.js';
import type { DeltaMemory } from './delta/delta-backend.js';
import type { GenerateRequest } from './generator-interface.js';

/** What the decoder worker needs to load its model. */
export interface GeneratorSettings {
  readonly id: string;
  readonly directory: string;
  readonly config: DecoderConfig;
  readonly device: Device;
  readonly threads: number;
  readonly maxAnswers: number;
  readonly engine: EngineSettings;
}

export interface EngineSettings {
  /** `exporter` runs the ONNX graph of the model folder and compiles nothing. */
  readonly kind: 'auto' | 'compiled' | 'exporter';
  /** Where compiled graphs are kept. */
  readonly compiledDirectory: string;
  readonly weights: 'int8' | 'fp32';
  /** `auto`: int8 where float would not fit the memory for sequences. */
  readonly keyValues: 'auto' | 'int8' | 'float';
  readonly memory: DeltaMemory;
  /** The exporter's graph, where the folder holds one. */
  readonly onnxFile?: string;
}

export interface GeneratorReady {
  /** What runs the model, e.g. `onnx-cpu compiled int8` or `onnx-cpu exporter`. */
  readonly backend: string;
  /** File whose content identifies the weights. */
  readonly weightsFile: string;
  /** Why the model was not compiled, where it was not. */
  readonly fallback?: string;
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
