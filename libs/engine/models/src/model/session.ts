import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { ModelLoadError } from './model-files.js';

export interface SessionSettings {
  readonly device: Device;
  /** Threads of one operator: 1 for encoders, which run several sessions; all cores for decoders. */
  readonly threads: number;
  /** Outputs that stay in device memory (WebGPU) as inputs of later runs; `dispose` frees them. */
  readonly keptOnDevice?: readonly string[];
}

export interface LoadedSession {
  readonly session: InferenceSession;
  /** Name of the execution provider, e.g. `onnx-cpu`. */
  readonly backend: string;
}

/** Loads a graph on the first provider that supports it. Throws ModelLoadError that names the file and the device. */
export async function createSession(file: string, settings: SessionSettings): Promise<LoadedSession> {
  const providers = providersFor(settings.device);
  let failure: unknown;
  for (const provider of providers) {
    try {
      const session = await InferenceSession.create(file, sessionOptions(provider, settings));
      return { session, backend: `onnx-${provider}` };
    } catch (error) {
      failure = error;
    }
  }
  const detail = failure instanceof Error ? failure.message : String(failure);
  throw new ModelLoadError(`${file} cannot be loaded on ${providers.join(' or ')}: ${detail}`, {
    cause: failure,
  });
}

/**
 * Threads of a session wait for each other between two operators; a short spin costs less than sleeping. Longer
 * spinning, or spinning between two runs, would take the cores from the other services of the machine.
 */
const briefSpinning = { allow_spinning: '1', spin_duration_us: '100' };

function sessionOptions(
  provider: string,
  { threads, keptOnDevice = [] }: SessionSettings,
): InferenceSession.SessionOptions {
  return {
    executionProviders: [provider],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
    extra: { session: { intra_op: briefSpinning, force_spinning_stop: '1' } },
    ...(provider === 'webgpu' && {
      preferredOutputLocation: Object.fromEntries(keptOnDevice.map((name) => [name, 'gpu-buffer' as const])),
    }),
  };
}

/** Returns a tensor of integers, such as token ids. */
export function int64Tensor(values: readonly number[], dims: readonly number[]): Tensor {
  const data = new BigInt64Array(values.length);
  for (const [index, value] of values.entries()) data[index] = BigInt(value);
  return new Tensor('int64', data, dims);
}

/** Returns a tensor's numbers as float32; half-precision models return float16. */
export function toFloat32(tensor: Tensor): Float32Array {
  const { data } = tensor;
  if (data instanceof Float32Array) return data;
  if (tensor.type === 'float16') return decodeHalves(data as Uint16Array);
  throw new TypeError(`The tensor has the type ${tensor.type}; float32 or float16 is expected.`);
}

/** Decodes half-precision numbers of onnxruntime: bit patterns in 16-bit integers, or a Float16Array of the runtime. */
export function decodeHalves(halves: ArrayLike<number>): Float32Array {
  if (!(halves instanceof Uint16Array)) return Float32Array.from(halves);
  return Float32Array.from(halves, decodeHalf);
}

function decodeHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

export const devices = ['auto', 'cpu', 'cuda', 'webgpu'] as const;
/** The device that runs a model; `auto`: CUDA if its libraries are installed, otherwise the CPU. */
export type Device = (typeof devices)[number];

/** Returns the providers to try, in order. Throws ModelLoadError for a device that this installation cannot use. */
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

/** The CUDA provider is a shared library in the runtime's folder; only an install with CUDA downloads it. */
function cudaInstalled(): boolean {
  const root = path.dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json'));
  const folder = path.join(root, 'bin', 'napi-v6', process.platform, process.arch);
  return ['libonnxruntime_providers_cuda.so', 'onnxruntime_providers_cuda.dll'].some((file) =>
    existsSync(path.join(folder, file)),
  );
}
