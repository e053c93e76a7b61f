import type { Neighbour } from '#platform/contracts';
import { hasRows, placeOf } from './chunk.js';

/** The known chunks of all documents, in their order. */
export class Sections {
  readonly #chunks = new Map<string, Map<number, Neighbour>>();

  constructor(chunks: readonly Neighbour[]) {
    for (const chunk of chunks) {
      const place = placeOf(chunk);
      if (!place) continue;
      const ofDocument = this.#chunks.get(place.document) ?? new Map<number, Neighbour>();
      this.#chunks.set(place.document, ofDocument.set(place.index, chunk));
    }
  }

  /** The chunk before (-1) or after (1) another one in the same section. */
  next(chunk: Neighbour, direction: -1 | 1): Neighbour | undefined {
    const next = this.#beside(chunk, direction);
    return next?.metadata['heading'] === chunk.metadata['heading'] ? next : undefined;
  }

  /** The chunks after another one in its document, in all sections, as far as they are known without a gap. */
  after(chunk: Neighbour): Neighbour[] {
    const found: Neighbour[] = [];
    for (let at = this.#beside(chunk, 1); at; at = this.#beside(at, 1)) found.push(at);
    return found;
  }

  #beside(chunk: Neighbour, direction: -1 | 1): Neighbour | undefined {
    const place = placeOf(chunk);
    return place && this.#chunks.get(place.document)?.get(place.index + direction);
  }

  /** The chunk with all known chunks before and after it in its section, as far as each of them passes. */
  around(chunk: Neighbour, passes: (chunk: Neighbour) => boolean = () => true): Neighbour[] {
    const walk = (direction: -1 | 1) => {
      const found: Neighbour[] = [];
      for (let at = this.next(chunk, direction); at && passes(at); at = this.next(at, direction))
        found.push(at);
      return found;
    };
    return [...walk(-1).toReversed(), chunk, ...walk(1)];
  }

  /** The chunks with rows around a chunk with rows: its table, as far as it is known. */
  tableOf(chunk: Neighbour): Neighbour[] {
    return this.around(chunk, hasRows);
  }
}
