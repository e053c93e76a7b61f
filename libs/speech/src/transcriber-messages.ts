import type { EngineChoice, EngineSettings, Device } from '#models';
import type { TranscribeRequest } from './transcriber-interface.js';

/** What the worker needs to load its model. */
export interface TranscriberSettings {
  readonly id: string;
  readonly directory: string;
  readonly device: Device;
  readonly threads: number;
  readonly engine: EngineSettings;
  readonly maxSeconds: number;
  readonly beams: number;
  /** Windows that a Whisper model decodes together. */
  readonly windows: number;
  /** File of Silero's detector; without it loudness decides. */
  readonly voiceModel?: string;
}

export interface TranscriberReady extends EngineChoice {
  readonly backend: string;
  /** Files that one thread hears side by side. */
  readonly filesAtOnce: number;
}

export type TranscriberCall = TranscribeRequest;
