import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomTensors, writeCheckpoint } from '../../compiler/checkpoint.fixture.js';
import { compileDecoder, type CompiledDecoder } from '../../compiler/index.js';
import { decoderShapes } from '../../compiler/reference-decoder.fixture.js';
import type { Device } from '../../runtime/execution-providers.js';
import { DeltaBackend } from './delta-backend.js';

const config = {
  model_type: 'llama',
  vocab_size: 200,
  hidden_size: 32,
  intermediate_size: 48,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 16,
  max_position_embeddings: 256,
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  tie_word_embeddings: true,
};

/** Debian's chromium-common brings a Vulkan driver without a GPU, libvulkan1 what looks for it. */
const swiftShader = '/usr/lib/chromium/libvk_swiftshader.so';
const loader = '/usr/lib/x86_64-linux-gnu/libvulkan.so.1';
const named = process.env['VK_ICD_FILENAMES'];
const hasVulkan = named ? existsSync(named) : existsSync(swiftShader) && existsSync(loader);

describe.skipIf(!hasVulkan)('DeltaBackend on WebGPU', { timeout: 240_000 }, () => {
  let folder: string;
  let model: CompiledDecoder;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'webgpu-'));
    if (!named) {
      const driver = path.join(folder, 'icd.json');
      const icd = { library_path: swiftShader, api_version: '1.0.5' };
      await writeFile(driver, JSON.stringify({ file_format_version: '1.0.0', ICD: icd }));
      process.env['VK_ICD_FILENAMES'] = driver;
    }
    await writeCheckpoint(path.join(folder, 'model'), config, randomTensors(decoderShapes(config)));
    model = await compileDecoder(path.join(folder, 'model'), {
      cacheDir: folder,
      weights: 'fp32',
      kv: 'float',
    });
  });
  afterAll(() => rm(folder, { recursive: true }));

  /** Logits behind a prompt, and behind one token more. */
  async function logitsOn(device: Device): Promise<Float32Array[]> {
    const memory = { sequenceBytes: 2 ** 24, prefixBytes: 0 };
    const backend = await DeltaBackend.load(model, { device, threads: 1 }, memory);
    expect(backend.name).toBe(`onnx-${device}`);
    const prompt = [7, 80, 3, 199, 42];
    const sequence = backend.openSequence(prompt);
    const behindPrompt = await backend.prefill({ sequence, tokens: prompt, logits: 1 });
    const [behindToken] = await backend.decode([{ sequence, tokens: [11], logits: 1 }]);
    await backend.dispose();
    return [behindPrompt, behindToken!];
  }

  it('says what the processor says', async () => {
    const expected = (await logitsOn('cpu')).flatMap((row) => [...row]);
    const given = (await logitsOn('webgpu')).flatMap((row) => [...row]);
    expect(given).toHaveLength(expected.length);
    // Sums run in another order on a GPU.
    given.forEach((value, index) => expect(Math.abs(value - expected[index]!)).toBeLessThan(1e-3));
  });
});
