export { loadFlite, type FliteOptions } from './flite-synthesizer.js';
export { openRemoteSynthesizer, type RemoteSynthesizerOptions } from './remote-synthesizer.js';
export { type SpeechSynthesizer, type SynthesisEvent, type SynthesisRequest } from './speech-synthesizer.js';
