import { MegaNestError, type GenerationChunk } from '#contracts';

const toolParam = /^tools\[(\d+)\]\.((?:grammar|parameters)\b.*)$/;

/**
 * The chunks, with errors about a tool that name its path in the caller's request. The language model names the
 * tool's index and its field: `tools[0].grammar.definition`.
 */
export async function* namingToolParams(
  chunks: AsyncIterable<GenerationChunk>,
  paramOf: (tool: number, field: string) => string,
): AsyncGenerator<GenerationChunk> {
  try {
    yield* chunks;
  } catch (error) {
    const [known, tool, field = ''] =
      (error instanceof MegaNestError && toolParam.exec(error.param ?? '')) || [];
    if (!(error instanceof MegaNestError) || known === undefined) throw error;
    const param = paramOf(Number(tool), field);
    throw MegaNestError.fromBody({ ...error.toBody(), param, message: error.message.replace(known, param) });
  }
}
