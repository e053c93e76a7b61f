export { findDownloaded, pullModel } from './hub/download-model.js';
export { type HubModel, parseHubId } from './hub/hub-cache.js';
export { type CachedModel, canCompileAny, findDamage, listModels, removeModel } from './hub/manage-models.js';
export { listDownloads } from './hub/list-downloads.js';
export { canCompileDecoder, canCompileEncoder, canCompileSpeech } from './model/can-compile.js';
export {
  chooseEngine,
  type EngineChoice,
  type EngineSettings,
  engineSettings,
} from './model/engine-settings.js';
export { readJson, readOptionalJson } from './model/json-file.js';
export { type DownloadProgress, type ModelLoadOptions, type WeightType } from './model/load-options.js';
export {
  type DecoderConfig,
  readDecoderConfig,
  readEncoderConfig,
  type SamplingDefaults,
} from './model/model-config.js';
export { ModelLoadError, ModelNotFoundError } from './model-load-error.js';
export { resolveModel } from './model-source.js';
export { describeWeights } from './model/weights-revision.js';
export { type Device } from './runtime/execution-providers.js';
export { createRandom, type RandomSource } from './runtime/random.js';
export { createSession, type LoadedSession, type SessionSettings } from './runtime/session.js';
export { toFloat32 } from './runtime/tensor-values.js';
export { Detokeniser } from './tokenizer/detokeniser.js';
export { type EncodedSequence, SequenceTemplate } from './tokenizer/sequence-template.js';
export { TextTokenizer } from './tokenizer/text-tokenizer.js';
export { TokenVocabulary } from './tokenizer/token-vocabulary.js';
export { type CallContext, serveWorker } from './workers/serve-worker.js';
export { TimedWorker } from './workers/timed-worker.js';
export { WorkerChannel } from './workers/worker-channel.js';
