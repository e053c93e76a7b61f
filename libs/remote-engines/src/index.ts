export { openRemoteClassifier } from './remote-classifier.js';
export { openRemoteEmbedder } from './remote-embedder.js';
export { openRemoteGenerator, type RemoteGenerator } from './remote-generator.js';
export { openRemoteReranker } from './remote-reranker.js';
export { openRemoteTranscriber } from './remote-transcriber.js';
export { RemoteServer, type RemoteOptions } from './remote-server.js';
