import type { TokenVocabulary } from '#engine/models';
import { deadState, type GrammarMachine } from './grammar-machine.js';

/** A mask of tokens, with their number. */
export interface TokenMask {
  /** A bit for each token. */
  readonly words: Int32Array;
  /** Number of tokens in the mask; counted up to two. */
  readonly count: number;
  readonly first: number;
}

/**
 * The tokens of a vocabulary as a trie over their bytes. Tokens with the same prefix share its steps, so that a mask
 * costs one step for each allowed prefix.
 */
export class TokenTrie {
  /** Bytes of each token; empty for tokens that are not text. */
  private readonly bytesOfTokens: readonly Uint8Array[];
  /** Edges in depth-first order: the byte, the depth, the token that ends there or -1, and the end of the subtree. */
  private readonly edges: Uint8Array;
  private readonly depths: Uint16Array;
  private readonly tokens: Int32Array;
  private readonly ends: Int32Array;
  private readonly path: Int32Array;
  private readonly singles = new Int32Array(256).fill(-1);

  /**
   * @param size Number of logits of the model; the tokenizer may have fewer tokens.
   * @param endTokenIds End-of-sequence tokens; they are never part of the text.
   */
  constructor(
    vocabulary: TokenVocabulary,
    private readonly size: number,
    endTokenIds: readonly number[],
  ) {
    const ends = new Set(endTokenIds);
    const empty = new Uint8Array();
    const bytes = Array.from({ length: size }, (_unused, id) =>
      ends.has(id) ? empty : vocabulary.bytesOf(id),
    );
    const sorted = bytes.map((_bytes, id) => id).filter((id) => bytes[id]!.length > 0);
    sorted.sort((one, other) => Buffer.compare(bytes[one]!, bytes[other]!) || one - other);
    // Keeps the last of several tokens with the same bytes, which is the piece rather than its fallback byte.
    const unique = sorted.filter((id, index) => {
      const follower = sorted[index + 1];
      return follower === undefined || Buffer.compare(bytes[id]!, bytes[follower]!) !== 0;
    });
    const kept = new Set(unique);
    this.bytesOfTokens = bytes.map((own, id) => (kept.has(id) ? own : empty));
    for (const id of unique) if (bytes[id]!.length === 1) this.singles[bytes[id]![0]!] = id;
    const layout = layOut(unique, bytes);
    this.edges = Uint8Array.from(layout.edges);
    this.depths = Uint16Array.from(layout.depths);
    this.tokens = Int32Array.from(layout.tokens);
    this.ends = Int32Array.from(layout.ends);
    this.path = new Int32Array(longestOf(layout.depths) + 2);
  }

  /** Returns the bytes of a token; empty for tokens that are not text. */
  bytesOf(token: number): Uint8Array {
    return this.bytesOfTokens[token]!;
  }

  /** Returns the token for a single byte; -1 if the vocabulary has no such token. */
  tokenOf(byte: number): number {
    return this.singles[byte]!;
  }

  /** Returns the tokens that a grammar allows in a state. */
  mask(machine: GrammarMachine, state: number): TokenMask {
    const { edges, depths, tokens, ends, path } = this;
    const words = new Int32Array(Math.ceil(this.size / 32));
    let [count, first] = [0, -1];
    path[0] = state;
    for (let index = 0; index < edges.length;) {
      const depth = depths[index]!;
      const next = machine.step(path[depth]!, edges[index]!);
      if (next === deadState) {
        index = ends[index]!;
        continue;
      }
      path[depth + 1] = next;
      const token = tokens[index]!;
      if (token >= 0) {
        words[token >> 5]! |= 1 << (token & 31);
        if (count < 2 && count++ === 0) first = token;
      }
      index++;
    }
    return { words, count, first };
  }
}

interface Layout {
  readonly edges: number[];
  readonly depths: number[];
  readonly tokens: number[];
  readonly ends: number[];
}

/** Builds the edges; each sorted token shares a prefix with the previous one. */
function layOut(sorted: readonly number[], bytes: readonly Uint8Array[]): Layout {
  const layout: Layout = { edges: [], depths: [], tokens: [], ends: [] };
  const open: number[] = [];
  let before = new Uint8Array();
  for (const id of sorted) {
    const own = bytes[id]!;
    let shared = 0;
    while (shared < before.length && shared < own.length && before[shared] === own[shared]) shared++;
    while (open.length > shared) layout.ends[open.pop()!] = layout.edges.length;
    for (let depth = shared; depth < own.length; depth++) {
      open.push(layout.edges.length);
      layout.edges.push(own[depth]!);
      layout.depths.push(depth);
      layout.tokens.push(depth === own.length - 1 ? id : -1);
      layout.ends.push(0);
    }
    before = own as Uint8Array<ArrayBuffer>;
  }
  while (open.length > 0) layout.ends[open.pop()!] = layout.edges.length;
  return layout;
}

function longestOf(depths: readonly number[]): number {
  let longest = 0;
  for (const depth of depths) longest = Math.max(longest, depth);
  return longest;
}
