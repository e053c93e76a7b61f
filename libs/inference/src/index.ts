export { loadEmbedder, type Embedder, type EmbedOptions, type Embeddings } from './encoder/embedder.js';
export { loadReranker, type Reranker, type RerankScores } from './encoder/reranker.js';
export { loadReader, type Reader, type ReadScores } from './encoder/reader.js';
export { type ReadSentence } from './encoder/reader-tokens.js';
export { splitWords, stemOf, writingOf } from './encoder/reader-words.js';
export {
  loadClassifier,
  type Classifications,
  type Classifier,
  type LabelScore,
} from './encoder/classifier.js';
export { type EncoderLoadOptions } from './encoder/load-encoder.js';
export { type Pooling } from './encoder/pooling.js';
export { type DownloadProgress, type ModelLoadOptions, type WeightType } from './model/load-options.js';
export { ModelLoadError } from './model/model-load-error.js';
export { devices, type Device } from './runtime/execution-providers.js';
export { loadGenerator, type GeneratorLoadOptions } from './generator/generator.js';
export {
  type ChatTemplate,
  type EngineLoad,
  type GenerateRequest,
  type GenerationEvent,
  type Generator,
} from './generator/generator-interface.js';
export {
  compileDecoder,
  compileEncoder,
  compileSpeech,
  exportDecoder,
  exportModel,
  quantiseCheckpoint,
  UnsupportedModelError,
  type CompiledDecoder,
  type CompileDecoderOptions,
  type CompiledEncoder,
  type CompileEncoderOptions,
  type CompiledSpeech,
  type CompileSpeechOptions,
} from './compiler/index.js';
export {
  openRemoteClassifier,
  openRemoteEmbedder,
  openRemoteGenerator,
  openRemoteReranker,
  openRemoteTranscriber,
  type RemoteGenerator,
  type RemoteGeneratorOptions,
  type RemoteOptions,
  type RemoteTranscriberOptions,
} from './remote/index.js';
export { WhisperFeatures } from './asr/whisper/whisper-features.js';
export { loadTranscriber, type TranscriberLoadOptions } from './asr/transcriber.js';
export {
  type TranscribeRequest,
  type Transcriber,
  type TranscriptEvent,
} from './asr/transcriber-interface.js';
