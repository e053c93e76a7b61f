import { existsSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { readJson } from '../model/json-file.js';
import { onnxCandidates, type WeightType } from '../model/load-options.js';
import { insideModel } from './hub-cache.js';

/** Files beside the weights that are fetched where a model has them. */
export const smallFiles = [
  'config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'generation_config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
  'modules.json',
  'preprocessor_config.json',
  'vocab.json',
  'sentence_bert_config.json',
  '1_Pooling/config.json',
];

/** The first file that a model cannot do without and lacks. Speech models with a list of units need no tokenizer. */
export function missingFile(has: (file: string) => boolean): string | undefined {
  const isSpeech = has('vocab.json') && !has('tokenizer.json');
  const required = isSpeech ? ['config.json'] : ['config.json', 'tokenizer.json', 'tokenizer_config.json'];
  return required.find((file) => !has(file));
}

/** The weights of a model in one file, and the index of weights in several. */
export const checkpointFile = 'model.safetensors';
export const indexFile = 'model.safetensors.index.json';

const shardIndexSchema = z.object({ weight_map: z.record(z.string(), z.string()) });

/** The weight files that the index of a snapshot names. Throws ModelLoadError for one in another folder. */
export async function listShards(id: string, snapshot: string): Promise<string[]> {
  const { weight_map: shards } = await readJson(snapshot, indexFile, shardIndexSchema);
  return [...new Set(Object.values(shards))].map((shard) => insideModel(id, shard));
}

/** The first graph among `files`, with the files that belong to it; undefined where there is no graph. */
export function findGraph(files: ReadonlySet<string>, types?: readonly WeightType[]): string[] | undefined {
  const graph = onnxCandidates(types).find((file) => files.has(file));
  if (graph === undefined) return undefined;
  // Models that hear or read with an encoder have it in a graph beside.
  const encoder = graph.replace('decoder_model_merged', 'encoder_model');
  const family = [`${graph}_data`, encoder, `${encoder}_data`, graph];
  return [...new Set(family)].filter((file) => files.has(file));
}

/** Whether a snapshot holds what the loaders read. A download gives weights their names last. */
export async function isComplete(
  id: string,
  snapshot: string,
  weights: { canCompile: () => Promise<boolean>; types?: readonly WeightType[] },
): Promise<boolean> {
  const has = (file: string) => existsSync(path.join(snapshot, file));
  if (missingFile(has) !== undefined) return false;
  if (onnxCandidates(weights.types).some(has)) return true;
  if (!(await weights.canCompile())) return false;
  if (has(checkpointFile)) return true;
  return has(indexFile) && (await listShards(id, snapshot)).every(has);
}
