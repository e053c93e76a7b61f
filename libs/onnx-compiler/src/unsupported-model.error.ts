/**
 * The model cannot be compiled: an architecture, an option of its config.json or a tensor that the compiler does not
 * know. The caller falls back to the exporter's ONNX file and says so; the message names what is unsupported.
 */
export class UnsupportedModelError extends Error {
  override readonly name = 'UnsupportedModelError';

  constructor(
    /** What is unsupported, for example `rope_scaling.rope_type "yarn"`. */
    readonly feature: string,
    readonly modelDirectory: string,
    cause?: unknown,
  ) {
    super(`The model in ${modelDirectory} cannot be compiled: ${feature} is not supported.`, { cause });
  }
}
