import { SafetensorsReader } from './safetensors.js';
import { UnsupportedModelError } from '../unsupported-model.error.js';

/**
 * Builds something from a checkpoint while its files are open. `build` returns which leftover tensors are harmless; any
 * other tensor that nothing asked for means an architecture that only looks familiar: UnsupportedModelError.
 */
export async function withCheckpoint(
  modelDirectory: string,
  build: (reader: SafetensorsReader) => {
    isHarmless: (name: string) => boolean;
    write: () => Promise<unknown>;
  },
): Promise<void> {
  const reader = await SafetensorsReader.open(modelDirectory);
  try {
    const { isHarmless, write } = build(reader);
    const [unknown] = reader.unusedNames(isHarmless);
    if (unknown) throw new UnsupportedModelError(`tensor ${unknown}`, modelDirectory);
    await write();
  } finally {
    await reader.close();
  }
}
