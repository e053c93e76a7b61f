import { WorkerChannel } from '#models';
import {
  type CompileDecoderOptions,
  type CompiledDecoder,
  findCompiledDecoder,
  UnsupportedModelError,
} from '#onnx-compiler';
import { builtFile } from '#paths';

/** What the thread is started with. */
export interface CompilationTask {
  readonly directory: string;
  readonly options: CompileDecoderOptions;
}

/** What the thread reports: the model, or the feature that the compiler lacks. */
export type Compilation = CompiledDecoder | { readonly unsupported: string };

/**
 * Finds a compiled decoder in the cache, or compiles it in a thread of its own: the memory of the compilation is free again
 * before the graph is loaded. Errors: UnsupportedModelError.
 */
export async function compileApart(
  directory: string,
  options: CompileDecoderOptions,
): Promise<CompiledDecoder> {
  const known = await findCompiledDecoder(directory, options);
  if (known) return known;
  const task: CompilationTask = { directory, options };
  const thread = new WorkerChannel<Compilation, never, never, never>(builtFile('compiler.worker'), task, 0);
  try {
    const result = await thread.start();
    if ('unsupported' in result) throw new UnsupportedModelError(result.unsupported, directory);
    return result;
  } finally {
    await thread.close();
  }
}
