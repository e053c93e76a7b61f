export { compileDecoder, type CompiledDecoder, type CompileDecoderOptions } from './compile-decoder.js';
export { compileEncoder, type CompiledEncoder, type CompileEncoderOptions } from './compile-encoder.js';
export { compileSpeech, type CompiledSpeech, type CompileSpeechOptions } from './compile-speech.js';
export { compileWhisper, type CompiledWhisper } from './compile-whisper.js';
export { UnsupportedModelError } from './unsupported-model.error.js';
export { compileDenseDecoder, exportDecoder } from './export-decoder.js';
export { exportModel } from './export-model.js';
export { quantiseCheckpoint } from './quantise-checkpoint.js';
