export { findDownloaded, pullModel } from './hub/download-model.js';
export { type HubModel, parseHubId } from './hub/hub-cache.js';
export { type CachedModel, canCompileAny, findDamage, listModels, removeModel } from './hub/manage-models.js';
export { listDownloads } from './hub/download-lock.js';
export {
  canCompileDecoder,
  canCompileEncoder,
  canCompileSpeech,
  describeWeights,
  readDecoderConfig,
  readEncoderConfig,
  type DecoderConfig,
  type SamplingDefaults,
} from './model/model-config.js';
export {
  chooseEngine,
  type EngineChoice,
  type EngineSettings,
  engineSettings,
  type DownloadProgress,
  type ModelLoadOptions,
  type WeightType,
} from './model/load-options.js';
export { freeTensor } from './model/free-tensor.js';
export { readJson, readOptionalJson, ModelLoadError, ModelNotFoundError } from './model/model-files.js';
export { resolveModel } from './model-source.js';
export {
  createSession,
  int64Tensor,
  toFloat32,
  type Device,
  type LoadedSession,
  type SessionSettings,
} from './model/session.js';
export { createRandom, type RandomSource } from './random.js';
export { Detokenizer, TextTokenizer } from './tokenizer/text-tokenizer.js';
export { TokenVocabulary } from './tokenizer/token-vocabulary.js';
export { type CallContext, serveWorker } from './workers/serve-worker.js';
export { TimedWorker } from './workers/timed-worker.js';
export { WorkerChannel } from './workers/worker-channel.js';
