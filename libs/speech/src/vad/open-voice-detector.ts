import { EnergyGate } from './energy-gate.js';
import { SileroDetector } from './silero.js';
import type { VoiceDetector } from './voice-detector.js';

/** Silero's network where its file is given, otherwise loudness. Throws ModelLoadError. */
export async function openVoiceDetector(file: string | undefined): Promise<VoiceDetector> {
  return file ? SileroDetector.load(file) : new EnergyGate();
}
