import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeHalves, providersFor, type Device } from './session.js';

describe('decodeHalves', () => {
  it('reads half-precision numbers from their bits', () => {
    const bits = Uint16Array.of(0x3c00, 0xc000, 0x0000, 0x7bff, 0x0001, 0x03ff, 0x7c00, 0xfc00, 0x3555);
    const values = [1, -2, 0, 65_504, 2 ** -24, 1023 * 2 ** -24, Infinity, -Infinity, 0.333251953125];
    expect([...decodeHalves(bits)]).toEqual(values);
    expect(decodeHalves(Uint16Array.of(0x7e00))[0]).toBeNaN();
  });
});

const runtime = path.dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json'));
const folder = path.join(runtime, 'bin', 'napi-v6', process.platform, process.arch);
const hasCuda = existsSync(path.join(folder, 'libonnxruntime_providers_cuda.so'));

describe('providersFor', () => {
  it('takes what was asked for, and of auto the best that is installed', () => {
    expect(providersFor('cpu')).toEqual(['cpu']);
    expect(providersFor('webgpu')).toEqual(['webgpu']);
    expect(providersFor('auto')).toEqual(hasCuda ? ['cuda', 'cpu'] : ['cpu']);
  });

  it.skipIf(hasCuda)('says how CUDA would be installed where it is not', () => {
    expect(() => providersFor('cuda')).toThrow(/ONNXRUNTIME_NODE_INSTALL=cuda12 .*CUDA 12 and cuDNN 9/);
  });

  it('refuses a device that it does not know, and names those that it does', () => {
    expect(() => providersFor('tpu' as Device)).toThrow(
      /"tpu" is unknown; use one of auto, cpu, cuda, webgpu/,
    );
  });
});
