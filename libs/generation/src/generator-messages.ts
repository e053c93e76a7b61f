import type { ChatMessage } from '#contracts';
import type { ReadConstraint } from '#grammar';
import type { EngineChoice, EngineSettings, DecoderConfig, Device } from '#models';
import type { BlockSize, WeightPrecision } from '#onnx-compiler';
import type { CacheMemory } from './backends/compiled-onnx-backend.js';
import type { EngineLoad, GenerateRequest } from './generator-interface.js';

/** Precision of a decoder's weights; `auto`: int8, or int4 where int8 does not fit the free memory. */
export type WeightChoice = WeightPrecision | 'auto';

/** Settings with which the decoder worker loads its model. */
export interface GeneratorSettings {
  readonly id: string;
  readonly directory: string;
  readonly config: DecoderConfig;
  readonly device: Device;
  readonly threads: number;
  readonly maxAnswers: number;
  readonly engine: EngineSettings;
  readonly weights: WeightChoice;
  /** Weights that share a scale with int4. */
  readonly block: BlockSize | undefined;
  /** Precision of the KV cache of a compiled graph; `auto`: int8 if float would not fit the memory. */
  readonly keyValues: 'auto' | 'int8' | 'float';
  readonly memory: CacheMemory;
}

/** First message of the worker: the engine that was chosen. */
export interface GeneratorReady extends EngineChoice {
  /** Name of the engine, e.g. `onnx-cpu compiled int8` or `onnx-cpu exporter`. */
  readonly backend: string;
}

/** A call to the decoder worker. */
export type GeneratorCall =
  | { readonly kind: 'load' }
  | {
      readonly kind: 'generate';
      readonly request: GenerateRequest;
      /** `request.parameters.constraint` after parsing. */
      readonly constraint?: ReadConstraint;
    }
  | {
      readonly kind: 'count';
      readonly messages: readonly ChatMessage[] | string;
      readonly chatTemplateKwargs?: Readonly<Record<string, unknown>>;
    };

/** Result of a call: the number of prompt tokens; for `load` the engine's load. */
export type GeneratorResult = number | EngineLoad;
