import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readDecoderConfig, type Device } from '#engine/models';
import { compileConcatKvDecoder } from '#engine/onnx-compiler';
import { randomTensors, writeCheckpoint } from '../../../onnx-compiler/src/checkpoint/checkpoint.fixture.js';
import { decoderShapes } from '../../../onnx-compiler/src/decoder/reference-decoder.fixture.js';
import { ExportedOnnxBackend } from './exported-onnx-backend.js';

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

describe.skipIf(!hasVulkan)('ExportedOnnxBackend on WebGPU', { timeout: 240_000 }, () => {
  let folder: string;
  let model: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'webgpu-'));
    if (!named) {
      const driver = path.join(folder, 'icd.json');
      const icd = { library_path: swiftShader, api_version: '1.0.5' };
      await writeFile(driver, JSON.stringify({ file_format_version: '1.0.0', ICD: icd }));
      process.env['VK_ICD_FILENAMES'] = driver;
    }
    await writeCheckpoint(path.join(folder, 'model'), config, randomTensors(decoderShapes(config)));
    model = await compileConcatKvDecoder(path.join(folder, 'model'), folder);
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function load(device: Device): Promise<ExportedOnnxBackend> {
    const decoder = await readDecoderConfig(path.join(folder, 'model'));
    const backend = await ExportedOnnxBackend.load(model, decoder, { device, threads: 1 });
    expect(backend.name).toBe(`onnx-${device}`);
    return backend;
  }
  const prompt = [7, 80, 3, 199, 42];

  /** Logits behind a prompt, behind one token more, and behind another one after the first was let go. */
  async function logitsOn(device: Device): Promise<number[]> {
    const backend = await load(device);
    const sequence = backend.openSequence();
    const behindPrompt = await backend.prefill({ sequence, tokens: prompt, logits: 1 });
    const fork = sequence.fork();
    const [behindToken] = await backend.decode([{ sequence, tokens: [11], logits: 1 }]);
    sequence.release();
    const [behindOther] = await backend.decode([{ sequence: fork, tokens: [12], logits: 1 }]);
    fork.release();
    await backend.dispose();
    return [behindPrompt, behindToken!, behindOther!].flatMap((row) => [...row]);
  }

  it('says what the processor says', async () => {
    const expected = await logitsOn('cpu');
    const given = await logitsOn('webgpu');
    expect(given).toHaveLength(expected.length);
    // Sums run in another order on a GPU.
    given.forEach((value, index) => expect(Math.abs(value - expected[index]!)).toBeLessThan(1e-3));
  });

  it('keeps keys and values in the memory of the device until the last sequence lets go of them', async () => {
    const backend = await load('webgpu');
    const sequence = backend.openSequence();
    await backend.prefill({ sequence, tokens: prompt, logits: 1 });
    const kept = Object.values(sequence.tensors);
    expect(kept.map(({ location }) => location)).toEqual(['gpu-buffer', 'gpu-buffer']);
    const fork = sequence.fork();
    sequence.release();
    sequence.release();
    expect(kept.map(({ location }) => location)).toEqual(['gpu-buffer', 'gpu-buffer']);
    await backend.decode([{ sequence: fork, tokens: [11], logits: 1 }]);
    expect(kept.map(({ location }) => location)).toEqual(['none', 'none']);
    fork.release();
    await backend.dispose();
  });
});
