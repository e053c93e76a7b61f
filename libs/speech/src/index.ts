export { type Transcriber, type TranscribeRequest, type TranscriptEvent } from './transcriber-interface.js';
export { loadTranscriber } from './transcriber.js';
export { WhisperFeatures } from './whisper/whisper-features.js';
