import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';

/**
 * The model cannot be compiled: its architecture, an option of its config.json or a tensor is unknown to the
 * compiler. The caller falls back to the exported ONNX file and reports it; the message names the unsupported
 * feature.
 */
export class UnsupportedModelError extends Error {
  override readonly name = 'UnsupportedModelError';

  constructor(
    /** The unsupported feature, for example `rope_scaling.rope_type "yarn"`. */
    readonly feature: string,
    readonly modelDirectory: string,
    cause?: unknown,
  ) {
    super(`The model in ${modelDirectory} cannot be compiled: ${feature} is not supported.`, { cause });
  }
}

/** Reads the config.json of a model directory. */
export async function readConfig(modelDirectory: string): Promise<unknown> {
  return JSON.parse(await readFile(join(modelDirectory, 'config.json'), 'utf8'));
}

/** Validates a config.json. Errors: UnsupportedModelError that names the first field at fault. */
export function parseConfig<Schema extends z.ZodType>(
  schema: Schema,
  stored: unknown,
  modelDirectory: string,
  kind = 'a',
): z.output<Schema> {
  const { data, error } = schema.safeParse(stored);
  if (!error) return data;
  const feature = `${kind} config.json whose ${error.issues[0]?.path.join('.')} is missing or invalid`;
  throw new UnsupportedModelError(feature, modelDirectory);
}
