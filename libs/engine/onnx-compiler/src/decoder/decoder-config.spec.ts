import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readDecoderShape } from './decoder-config.js';
import { inverseFrequencies } from './rope.js';
import { UnsupportedModelError } from '../config-file.js';

const llama = {
  model_type: 'llama',
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  intermediate_size: 96,
  vocab_size: 100,
  max_position_embeddings: 4096,
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'meganest-compiler-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function read(changes: object) {
  await writeFile(join(folder, 'config.json'), JSON.stringify({ ...llama, ...changes }));
  return readDecoderShape(folder);
}

describe('readDecoderShape', () => {
  it('fills in what older configs leave out', async () => {
    expect(await read({})).toMatchObject({
      kvHeads: 4,
      headDim: 16,
      contextLength: 4096,
      tiedEmbeddings: false,
      rope: { theta: 10_000, scaling: { rope_type: 'default' } },
    });
  });

  it('reads rope parameters under their old and their new names', async () => {
    const old = await read({ rope_theta: 500_000, rope_scaling: { type: 'linear', factor: 2 } });
    const now = await read({ rope_parameters: { rope_theta: 500_000, rope_type: 'linear', factor: 2 } });
    expect(now.rope).toEqual(old.rope);
    expect(now.rope).toEqual({ theta: 500_000, scaling: { rope_type: 'linear', factor: 2 } });
  });

  it("reads a rope for each type of layer, in transformers 5's form and in the older one", async () => {
    const sizes = { model_type: 'gemma3_text', hidden_activation: 'gelu_pytorch_tanh', sliding_window: 8 };
    const nested = await read({
      ...sizes,
      rope_parameters: {
        full_attention: { rope_type: 'linear', factor: 8, rope_theta: 1_000_000 },
        sliding_attention: { rope_type: 'default', rope_theta: 20_000 },
      },
    });
    const older = await read({
      ...sizes,
      rope_scaling: { rope_type: 'linear', factor: 8 },
      rope_local_base_freq: 20_000,
    });
    expect(nested).toEqual(older);
    expect(nested.window?.rope?.theta).toBe(20_000);
  });

  it('reads windows, and ends the context of a Qwen where its window does', async () => {
    expect(await read({ model_type: 'mistral', sliding_window: 1024 })).toMatchObject({
      contextLength: 4096,
      window: { size: 1024 },
    });
    expect((await read({ model_type: 'mistral', sliding_window: null })).window).toBeUndefined();
    const qwen = { model_type: 'qwen2', sliding_window: 1024, use_sliding_window: false };
    expect(await read(qwen)).toMatchObject({ contextLength: 4096 });
    expect(await read({ ...qwen, use_sliding_window: true })).toMatchObject({ contextLength: 1024 });
  });

  it('leaves dynamic scaling out of the original context, where it changes nothing', async () => {
    const { rope, contextLength } = await read({ rope_scaling: { type: 'dynamic', factor: 4 } });
    expect(contextLength).toBe(4096);
    expect(inverseFrequencies(16, rope)[0]).toBe(1);
  });

  it.each([
    [{ model_type: 'gemma' }, 'model_type "gemma"'],
    [{ hidden_act: 'gelu' }, 'hidden_act "gelu"'],
    [{ rope_scaling: { rope_type: 'yarn', factor: 4 } }, 'rope_scaling of type "yarn"'],
    [{ partial_rotary_factor: 0.5 }, 'partial_rotary_factor 0.5'],
    [{ rope_parameters: { full_attention: { rope_theta: 5 } } }, 'rope_parameters'],
    [{ rope_parameters: { linear_attention: { rope_theta: 5 } } }, 'linear_attention'],
    [{ layer_types: ['full_attention', 'linear_attention'] }, 'linear_attention'],
    [{ quantization_config: { quant_method: 'gptq' } }, 'quantization_config'],
    [{ num_key_value_heads: 3 }, '4 query heads over 3 KV heads'],
    [{ head_dim: 7 }, 'a head dimension of 7'],
    [{ vocab_size: undefined }, 'vocab_size'],
  ])('refuses %j', async (changes, feature) => {
    const failure = await read(changes).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UnsupportedModelError);
    expect((failure as UnsupportedModelError).feature).toContain(feature);
    expect((failure as UnsupportedModelError).modelDirectory).toBe(folder);
  });
});
