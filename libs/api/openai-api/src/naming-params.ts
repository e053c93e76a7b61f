import { type GenerationChunk, MegaNestError } from '#platform/contracts';

const toolParam = /^tools\[(\d+)\]\.((?:grammar|parameters)\b.*)$/;
const formParam = /^constraint(?:\.(?:schema|pattern|grammar)\b)?/;

/**
 * Passes the chunks on, and replaces the path in errors about a tool with the path in the caller's request. The
 * language model's errors have the tool's index and its field: `tools[0].grammar.definition`.
 */
export function namingToolParams(
  chunks: AsyncIterable<GenerationChunk>,
  paramOf: (tool: number, field: string) => string,
): AsyncGenerator<GenerationChunk> {
  return renamingParams(chunks, (param) => {
    const [known, tool, field = ''] = toolParam.exec(param) ?? [];
    return known === undefined ? param : paramOf(Number(tool), field);
  });
}

/**
 * Passes the chunks on, and replaces the path in errors about the form of the answer (`constraint.schema.items`) with
 * the path in the caller's request. `field` is the path of the schema, expression or grammar.
 */
export function namingFormParams(
  chunks: AsyncIterable<GenerationChunk>,
  field: string,
): AsyncGenerator<GenerationChunk> {
  return renamingParams(chunks, (param) => param.replace(formParam, () => field));
}

function renamingParams(
  chunks: AsyncIterable<GenerationChunk>,
  rename: (param: string) => string,
): AsyncGenerator<GenerationChunk> {
  return renamingErrors(chunks, (error) => {
    if (!(error instanceof MegaNestError) || !error.param) return error;
    const { param: known, message } = error;
    const param = rename(known);
    if (param === known) return error;
    return MegaNestError.fromBody({ ...error.toBody(), param, message: message.replace(known, () => param) });
  });
}

/** Passes the items on. `rename` returns the error to throw in place of a thrown one. */
export async function* renamingErrors<Item>(
  items: AsyncIterable<Item>,
  rename: (error: unknown) => unknown,
): AsyncGenerator<Item, void, void> {
  try {
    yield* items;
  } catch (error) {
    throw rename(error);
  }
}
