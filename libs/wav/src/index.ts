export { pcmWav, pcmWavHead, readPcmWav } from './pcm-wav.js';
