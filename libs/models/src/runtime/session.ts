import { InferenceSession } from 'onnxruntime-node';
import { ModelLoadError } from '../model-load-error.js';
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

/**
 * Threads of a session wait for each other between two operators; going to sleep there costs more than the wait. Longer
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
