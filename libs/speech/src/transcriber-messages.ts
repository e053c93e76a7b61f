import type { EngineChoice, EngineSettings, Device } from '#models';
import type { TranscribeRequest } from './transcriber-interface.js';

/** Settings with which the worker loads its model. */
export interface TranscriberSettings {
  readonly id: string;
  readonly directory: string;
  readonly device: Device;
  readonly threads: number;
  readonly engine: EngineSettings;
  readonly maxSeconds: number;
  readonly beams: number;
  /** Maximum number of windows that a Whisper model decodes in a batch. */
  readonly windows: number;
  /** File of Silero's detector; without it an energy threshold detects speech. */
  readonly voiceModel?: string;
}

/** First message of the worker: the engine that was chosen. */
export interface TranscriberReady extends EngineChoice {
  readonly backend: string;
  /** Number of files that a thread transcribes concurrently. */
  readonly maxConcurrentFiles: number;
}

/** A call to the worker. */
export type TranscriberCall = TranscribeRequest;
