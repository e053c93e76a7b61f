import { ModelLoadError, readJson, readOptionalJson } from '#engine/models';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { readDenseStep } from './dense-config.js';
import type { HeadStep } from './head-step.js';
import { readPoolingConfig } from './pooling-config.js';
import type { PoolingMode } from './pooling.js';
import { readTransformerConfig, type TransformerConfig } from './transformer-config.js';

/** The parts of a sentence-transformers model: a transformer, a pooling, and modules after it. */
export interface SentenceModules extends TransformerConfig {
  /** Folder of the model. */
  readonly root: string;
  /** Folder of the transformer's config.json, weights and tokenizer. */
  readonly directory: string;
  /** Absent for a model without a pooling, such as a classifier. */
  readonly pooling?: readonly PoolingMode[];
  readonly steps: readonly HeadStep[];
}

const modulesSchema = z.array(z.looseObject({ path: z.string(), type: z.string() })).min(1);
type Module = z.infer<typeof modulesSchema>[number];

/** Model families whose ONNX exports lack `1_Pooling/config.json` and that pool the first token. */
const clsFamilies = /(^|\/)(bge|snowflake-arctic-embed|mxbai-embed|gte-(base|large)-en-v1\.5)/i;

/**
 * Reads the modules that sentence-transformers stored with a model. A folder without `modules.json` is one transformer,
 * with the pooling of `1_Pooling/config.json`. Errors: ModelLoadError that names the module or the option that is not
 * supported.
 */
export async function readSentenceModules(directory: string): Promise<SentenceModules> {
  const modules = await readOptionalJson(directory, 'modules.json', modulesSchema);
  if (!modules) {
    const pooling = path.join(directory, '1_Pooling');
    return {
      root: directory,
      directory,
      ...(await readTransformerConfig(directory)),
      ...(existsSync(pooling) && { pooling: await readPoolingConfig(pooling) }),
      steps: [],
    };
  }
  const [first, ...others] = modules.map((module) => ({
    kind: kindOf(module, directory),
    directory: inside(directory, module.path),
  }));
  if (first?.kind !== 'Transformer')
    throw new ModelLoadError(`${directory}/modules.json begins with ${first?.kind}; use a Transformer.`);
  const [second, ...rest] = others;
  const pools = second?.kind === 'Pooling';
  const steps: HeadStep[] = [];
  for (const { kind, directory: folder } of pools ? rest : others)
    steps.push(...(await readStep(kind, folder, directory)));
  return {
    root: directory,
    directory: first.directory,
    ...(await readTransformerConfig(first.directory)),
    ...(pools && { pooling: await readPoolingConfig(second.directory) }),
    steps,
  };
}

/** The pooling of a model whose files name none: the one known for the model family, otherwise the mean. */
export function usualPooling(id: string): readonly PoolingMode[] {
  return clsFamilies.test(id) ? ['cls'] : ['mean'];
}

/** Name of a module's class. A class of another package may compute anything. */
function kindOf({ type }: Module, directory: string): string {
  const kind = type.split('.').at(-1)!;
  if (type.startsWith('sentence_transformers.')) return kind;
  throw new ModelLoadError(
    `${directory}/modules.json has a module of type "${type}", which is not supported.`,
  );
}

function inside(directory: string, folder: string): string {
  const full = path.resolve(directory, folder);
  if (full === path.resolve(directory) || full.startsWith(path.resolve(directory) + path.sep)) return full;
  throw new ModelLoadError(`${directory}/modules.json names the folder "${folder}", outside the model.`);
}

const layerNormSchema = z.strictObject({ dimension: z.int().positive() });
const normalizeSchema = z.strictObject({
  module_input_name: z.literal('sentence_embedding').optional(),
  module_output_name: z.literal('sentence_embedding').optional(),
});

async function readStep(kind: string, folder: string, directory: string): Promise<HeadStep[]> {
  switch (kind) {
    case 'Dense':
      return [await readDenseStep(folder)];
    case 'LayerNorm': {
      const { dimension } = await readJson(folder, 'config.json', layerNormSchema);
      return [{ kind: 'layer-norm', directory: folder, width: dimension }];
    }
    case 'Normalize':
      await readOptionalJson(folder, 'config.json', normalizeSchema);
      return [{ kind: 'normalize' }];
    // Dropout only acts in training.
    case 'Dropout':
      return [];
    default:
      throw new ModelLoadError(
        `${directory}/modules.json has the module ${kind}, which is not supported here; supported are Transformer, one Pooling after it, then Dense, LayerNorm, Normalize.`,
      );
  }
}
