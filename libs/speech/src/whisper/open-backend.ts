import { chooseEngine, type EngineChoice, type EngineSettings } from '#models';
import type { SessionSettings } from '#models';
import { ExporterSession } from './exporter-session.js';
import type { WhisperBackend } from './whisper-backend.js';
import { WhisperSession } from './whisper-session.js';
import type { WhisperSettings } from './whisper-settings.js';

/** Compiles the model of a folder where it has safetensors, otherwise runs its exported graphs. Throws ModelLoadError. */
export async function openBackend(
  directory: string,
  engine: EngineSettings,
  settings: SessionSettings,
  whisper: WhisperSettings,
): Promise<WhisperBackend> {
  type Loaded = { open: (choice: EngineChoice) => WhisperBackend };
  const { loaded, choice } = await chooseEngine<Loaded>(directory, engine, {
    compiled: () => WhisperSession.load(directory, engine, settings, whisper),
    exporter: (file) => ExporterSession.load(directory, file, settings),
  });
  return loaded.open(choice);
}
