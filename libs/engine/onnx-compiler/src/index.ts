export { compileSpeech, readSpeechShape } from './ctc/compile-speech.js';
export {
  type CompiledDecoder,
  compileDecoder,
  type CompileDecoderOptions,
  compileConcatKvDecoder,
  exportDecoder,
  findCompiledDecoder,
  type WeightPrecision,
} from './decoder/compile-decoder.js';
export { type DecoderShape, readDecoderShape } from './decoder/decoder-config.js';
export { compileEncoder, type CompileEncoderOptions } from './encoder/compile-encoder.js';
export { readEncoderShape } from './encoder/encoder-config.js';
export { exportModel } from './export-model.js';
export { OnnxTensors } from './onnx/read-tensors.js';
export { fileDigest, hashFile } from './compile-cache.js';
export { countParameters, readTensors } from './checkpoint/safetensors.js';
export type { WeightBlock } from './quantization/blocks.js';
export { quantizeCheckpoint } from './quantization/quantize.js';
export { UnsupportedModelError } from './config-file.js';
export { type CompiledWhisper, compileWhisper } from './whisper/compile-whisper.js';
export { readWhisperShape } from './whisper/whisper-model.js';
export { type CompiledVision, compileVision } from './vision/compile-vision.js';
export { isVisionConfig, readTextConfig } from './vision/vision-config.js';
