export { openRemoteClassifier, openRemoteEmbedder, openRemoteReranker } from './remote-encoders.js';
export { openRemoteGenerator, type RemoteGenerator } from './remote-generator.js';
export { openRemoteTranscriber } from './remote-transcriber.js';
export { RemoteServer, type RemoteOptions } from './remote-server.js';
export { EnginePool, type PoolPlan } from './pool/engine-pool.js';
export { findModels, type PoolEntry } from './pool/engine.js';
export type { PooledGenerator } from './pool/pooled-generator.js';
