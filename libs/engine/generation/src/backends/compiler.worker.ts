import { serveWorker } from '#engine/models';
import { compileDecoder, UnsupportedModelError } from '#engine/onnx-compiler';
import type { Compilation, CompilationTask } from './load-backend.js';

/** Entry point of the thread that compiles a decoder and ends. */
await serveWorker<Compilation, never, never, never>(async (settings) => {
  const { directory, options } = settings as CompilationTask;
  const ready = await compileDecoder(directory, options).catch((error: unknown): Compilation => {
    if (error instanceof UnsupportedModelError) return { unsupported: error.feature };
    throw error;
  });
  return {
    ready,
    handle: () => Promise.reject(new Error('This thread takes no calls.')),
    dispose: () => Promise.resolve(),
  };
});
