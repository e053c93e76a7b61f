export { openRemoteClassifier } from './remote-classifier.js';
export { openRemoteEmbedder } from './remote-embedder.js';
export {
  openRemoteGenerator,
  type RemoteGenerator,
  type RemoteGeneratorOptions,
} from './remote-generator.js';
export { openRemoteReranker } from './remote-reranker.js';
export { type RemoteOptions } from './remote-server.js';
export { openRemoteTranscriber, type RemoteTranscriberOptions } from './remote-transcriber.js';
