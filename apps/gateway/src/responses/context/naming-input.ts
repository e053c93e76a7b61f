import { MegaNestError } from '#contracts';

/** The chunks, with errors about the conversation told by the name that it has in a request for a response. */
export async function* namingInput<Chunk>(chunks: AsyncIterable<Chunk>): AsyncGenerator<Chunk> {
  try {
    yield* chunks;
  } catch (error) {
    if (!(error instanceof MegaNestError) || error.param !== 'messages') throw error;
    throw MegaNestError.fromBody({ ...error.toBody(), param: 'input' });
  }
}
