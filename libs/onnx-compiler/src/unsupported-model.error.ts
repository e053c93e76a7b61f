/**
 * The model cannot be compiled: its architecture, an option of its config.json or a tensor is unknown to the
 * compiler. The caller falls back to the exported ONNX file and reports it; the message names the unsupported
 * feature.
 */
export class UnsupportedModelError extends Error {
  override readonly name = 'UnsupportedModelError';

  constructor(
    /** The unsupported feature, for example `rope_scaling.rope_type "yarn"`. */
    readonly feature: string,
    readonly modelDirectory: string,
    cause?: unknown,
  ) {
    super(`The model in ${modelDirectory} cannot be compiled: ${feature} is not supported.`, { cause });
  }
}
