export { AsrController, decodeBase64 } from './asr.controller.js';
export { AudioController } from './audio.controller.js';
export { audioEnvironmentShape, audioLimits, audioLimitsOf, type AudioLimits } from './audio-request.js';
export { liveEnvironmentShape, serveLiveAudio } from './live/live-route.js';
export {
  beginTranscript,
  finishTranscript,
  Transcription,
  type TranscriptionRequest,
} from './transcription.js';
export { ServedModelController } from './served-model.controller.js';
export { TtsController } from './tts.controller.js';
export { VoicesController } from './voices.controller.js';
export { SpeechController, beginSpeech, finishSpeech, Synthesis, type SpeechRequest } from './speech.js';
