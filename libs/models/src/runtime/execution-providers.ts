import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { ModelLoadError } from '../model-load-error.js';

export const devices = ['auto', 'cpu', 'cuda', 'webgpu'] as const;
/** What runs a model; `auto` takes CUDA where its libraries are installed, otherwise the CPU. */
export type Device = (typeof devices)[number];

/** Providers to try, in order. Throws ModelLoadError for a device that this installation cannot have. */
export function providersFor(device: Device): string[] {
  if (!devices.includes(device)) {
    throw new ModelLoadError(`The device "${device}" is unknown; use one of ${devices.join(', ')}.`);
  }
  if (device === 'auto') return cudaInstalled() ? ['cuda', 'cpu'] : ['cpu'];
  if (device === 'cuda' && !cudaInstalled()) {
    throw new ModelLoadError(
      'The device "cuda" needs the CUDA provider of onnxruntime: reinstall with ' +
        '`ONNXRUNTIME_NODE_INSTALL=cuda12 npm rebuild onnxruntime-node`, and have CUDA 12 and cuDNN 9 on the machine.',
    );
  }
  return [device];
}

/** The provider is a shared library beside the runtime's own, absent unless the install step fetched it. */
function cudaInstalled(): boolean {
  const root = path.dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json'));
  const folder = path.join(root, 'bin', 'napi-v6', process.platform, process.arch);
  return ['libonnxruntime_providers_cuda.so', 'onnxruntime_providers_cuda.dll'].some((file) =>
    existsSync(path.join(folder, file)),
  );
}
