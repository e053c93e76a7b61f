export { openRemoteClassifier, openRemoteEmbedder, openRemoteReranker } from './remote-encoders.js';
export { openRemoteGenerator, type RemoteGenerator } from './remote-generator.js';
export { openRemoteTranscriber } from './remote-transcriber.js';
export { RemoteServer, type RemoteOptions } from './remote-server.js';
