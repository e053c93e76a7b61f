export { decodeAudio } from './audio/decode-audio.js';
export { Resampler } from './audio/resampler.js';
export {
  type Transcriber,
  type TranscribeRequest,
  type TranscriptEvent,
  loadTranscriber,
} from './transcriber.js';
export { WhisperFeatures } from './whisper/whisper-features.js';
