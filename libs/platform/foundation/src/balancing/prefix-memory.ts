import { createHash } from 'node:crypto';

/** Characters of one piece of a prompt. */
const pieceLength = 256;
/** Pieces of a prompt that are remembered: 64 KiB of text. */
const maxPieces = 256;
/** Remembered beginnings; the ones that were not used for the longest time are forgotten. */
const maxBeginnings = 20_000;

/** Which server has read which beginnings of prompts. Beginnings are compared by pieces of 256 characters. */
export class PrefixMemory {
  /** The server that read a beginning last, by the hash of the beginning. */
  readonly #servers = new Map<string, string>();

  /** The server that has read the longest beginning of this text; undefined if none of them has read one. */
  find<Server extends { readonly id: string }>(text: string, servers: readonly Server[]): Server | undefined {
    let found: Server | undefined;
    for (const hash of beginnings(text)) {
      const id = this.#servers.get(hash);
      if (id === undefined) break;
      found = servers.find((server) => server.id === id) ?? found;
    }
    return found;
  }

  /** A server reads this text. */
  note(text: string, id: string): void {
    for (const hash of beginnings(text)) {
      this.#servers.delete(hash);
      this.#servers.set(hash, id);
    }
    for (const [oldest] of this.#servers) {
      if (this.#servers.size <= maxBeginnings) break;
      this.#servers.delete(oldest);
    }
  }
}

/** The hashes of the beginnings of a text, shortest first. A text shorter than a piece is one beginning. */
function* beginnings(text: string): Generator<string> {
  let before = '';
  const count = Math.min(maxPieces, Math.max(1, Math.floor(text.length / pieceLength)));
  for (let piece = 0; piece < count; piece += 1) {
    const part = text.slice(piece * pieceLength, (piece + 1) * pieceLength);
    before = createHash('sha1').update(before).update(part).digest('base64');
    yield before;
  }
}
