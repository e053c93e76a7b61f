import {
  engineIdOf,
  engineModelSchema,
  engineSpecSchema,
  errorFromIssues,
  type EngineModelSettings,
} from '#platform/contracts';
import type { PoolEntry } from '#engine/remote-engines';
import { watch, type FSWatcher } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

/** What the files of a directory say. */
export interface FiledEngines {
  readonly engines: readonly PoolEntry[];
  /** Settings of models, by their ids. */
  readonly models: ReadonlyMap<string, EngineModelSettings>;
  /** Files that are not used, and why. */
  readonly problems: readonly string[];
}

const fileSchema = z.strictObject({
  engines: z.array(engineSpecSchema).max(200).default([]),
  models: z.record(z.string().min(1).max(200), engineModelSchema).default({}),
});

const maxCharacters = 100_000;
/** Time without a change before the files are read, because editors write in several steps. */
const quietMs = 100;

/**
 * Reads every *.yaml and *.yml of a directory. A file that is not valid, or that names an engine of an earlier file, has
 * no effect and is a problem. A directory that does not exist is empty. `variables`: values of `${NAME}` in keys.
 */
export async function readEngineFiles(
  directory: string,
  variables: NodeJS.ProcessEnv,
): Promise<FiledEngines> {
  const engines = new Map<string, PoolEntry>();
  const models = new Map<string, EngineModelSettings>();
  const problems: string[] = [];
  for (const file of await filesOf(directory)) {
    try {
      const found = readOne(await readFile(join(directory, file), 'utf8'), file, variables);
      const twin = found.engines.find(({ spec }) => engines.has(spec.id));
      if (twin) throw new Error(`${file}: engines: the id ${twin.spec.id} is taken by another file`);
      for (const entry of found.engines) engines.set(entry.spec.id, entry);
      for (const [id, settings] of Object.entries(found.models)) models.set(id, settings);
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
  }
  return { engines: [...engines.values()], models, problems };
}

async function filesOf(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).filter((name) => /^[^.].*\.ya?ml$/.test(name)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Errors: an Error that names the file and the field. */
function readOne(
  text: string,
  file: string,
  variables: NodeJS.ProcessEnv,
): { engines: PoolEntry[]; models: Record<string, EngineModelSettings> } {
  if (text.length > maxCharacters)
    throw new Error(`${file}: has more than the limit of ${maxCharacters} characters`);
  const { engines, models } = validated(parsed(text, file), file);
  const named = engines.map((given, index) => {
    const key = withVariables(given.api_key, `${file}: engines[${index}].api_key`, variables);
    const { api_key: _key, ...rest } = given;
    return { ...rest, id: engineIdOf(given), ...(key !== undefined && { api_key: key }) };
  });
  const twin = named.find(({ id }, index) => named.findIndex((other) => other.id === id) < index);
  if (twin) throw new Error(`${file}: engines: two have the id ${twin.id}`);
  return { engines: named.map((spec) => ({ spec, source: file })), models };
}

function validated(value: unknown, file: string): z.output<typeof fileSchema> {
  const result = fileSchema.safeParse(value ?? {});
  if (result.success) return result.data;
  throw new Error(`${file}: ${errorFromIssues(result.error.issues).message}`);
}

function parsed(text: string, file: string): unknown {
  try {
    return parse(text, { maxAliasCount: 0 });
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** Replaces `${NAME}` by the variable. Errors: an Error for a variable that is not set. */
function withVariables(
  text: string | undefined,
  place: string,
  variables: NodeJS.ProcessEnv,
): string | undefined {
  return text?.replaceAll(/\$\{(\w+)\}/g, (_match, name: string) => {
    const value = variables[name];
    if (!value) throw new Error(`${place}: the variable ${name} is not set`);
    return value;
  });
}

/** Calls `onChange` after each change of a directory, once the changes have paused. */
export function watchEngineFiles(directory: string, onChange: () => void): { close(): void } {
  let timer: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(directory, { persistent: false }, () => {
      clearTimeout(timer);
      timer = setTimeout(onChange, quietMs).unref();
    });
    // The directory was removed: what was read stays.
    watcher.on('error', () => watcher?.close());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return {
    close: () => {
      clearTimeout(timer);
      watcher?.close();
    },
  };
}
