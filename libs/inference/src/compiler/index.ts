export { compileDecoder, type CompiledDecoder, type CompileDecoderOptions } from './compile-decoder.js';
export { UnsupportedModelError } from './unsupported-model.error.js';
