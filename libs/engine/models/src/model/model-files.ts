import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

/** Reads and validates a JSON file of a model folder; undefined if it does not exist. */
export async function readOptionalJson<Schema extends z.ZodType>(
  directory: string,
  file: string,
  schema: Schema,
): Promise<z.output<Schema> | undefined> {
  const fullPath = path.join(directory, file);
  const text = await readFile(fullPath, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new ModelLoadError(`${fullPath} cannot be read: ${error.message}`, { cause: error });
  });
  return text === undefined ? undefined : parseJson(text, fullPath, schema);
}

/** Like {@link readOptionalJson}, but a missing file is a ModelLoadError that names it. */
export async function readJson<Schema extends z.ZodType>(
  directory: string,
  file: string,
  schema: Schema,
): Promise<z.output<Schema>> {
  const value = await readOptionalJson(directory, file, schema);
  if (value === undefined) throw new ModelLoadError(`${path.join(directory, file)} is missing.`);
  return value;
}

function parseJson<Schema extends z.ZodType>(
  text: string,
  fullPath: string,
  schema: Schema,
): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    const detail = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new ModelLoadError(`${fullPath} is not valid: ${detail}`, { cause: error });
  }
}

/** A model cannot be loaded, e.g. a missing file or an unknown device. Thrown by the `load…` functions. */
export class ModelLoadError extends Error {
  override readonly name: string = 'ModelLoadError';
}

/** The model does not exist, or is not available. */
export class ModelNotFoundError extends ModelLoadError {
  override readonly name = 'ModelNotFoundError';
}
