import { InferenceSession } from 'onnxruntime-node';
import { ModelLoadError } from '../model/model-load-error.js';
import { type Device, providersFor } from './execution-providers.js';

export interface SessionSettings {
  readonly device: Device;
  /** Threads of one operator; encoders use 1 and run several sessions, decoders use the cores. */
  readonly threads: number;
  /** Outputs that stay in the memory of a device of its own (WebGPU), to be fed back from there; `dispose` frees them. */
  readonly keptOnDevice?: readonly string[];
}

export interface LoadedSession {
  readonly session: InferenceSession;
  /** What runs it, e.g. `onnx-cpu`. */
  readonly backend: string;
}

/** Loads a graph on the first provider that takes it. Throws ModelLoadError that names file and device. */
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

function sessionOptions(
  provider: string,
  { threads, keptOnDevice = [] }: SessionSettings,
): InferenceSession.SessionOptions {
  return {
    executionProviders: [provider],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
    // Threads that spin while they wait take the cores from the other services of the machine.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
    ...(provider === 'webgpu' && {
      preferredOutputLocation: Object.fromEntries(keptOnDevice.map((name) => [name, 'gpu-buffer' as const])),
    }),
  };
}
