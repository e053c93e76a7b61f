import type { PositionKey } from '../images/prompt-images.js';
import { type CacheTensor, KvCache, type CacheRange } from './kv-cache.js';

/**
 * Positions in a block. Prompts are processed in chunks of this size from position 0 on, so that a block has the
 * same values whichever request computed it.
 */
export const blockSize = 64;

interface Block {
  readonly tokens: string;
  readonly parent: Block | undefined;
  readonly children: Map<string, Block>;
  readonly cache?: KvCache;
  lastUse: number;
}

/**
 * Cached prompt prefixes, shared by all requests: a tree of blocks of 64 positions, each a token or a part of an image. Above its capacity it evicts the
 * least recently used leaf.
 */
export class PrefixCache {
  private readonly root: Block = { tokens: '', parent: undefined, children: new Map(), lastUse: 0 };
  private clock = 0;
  private usedBytes = 0;

  constructor(
    private readonly tensors: readonly CacheTensor[],
    private readonly capacityBytes: number,
  ) {}

  get bytes(): number {
    return this.usedBytes;
  }

  /**
   * Returns the cached blocks of a prompt's prefix. The last token is never included, because its logits are
   * needed.
   */
  find(prompt: readonly PositionKey[]): KvCache[] {
    const found: KvCache[] = [];
    let block: Block | undefined = this.root;
    for (let start = 0; start + blockSize < prompt.length; start += blockSize) {
      block = block.children.get(blockKey(prompt, start));
      if (!block) break;
      block.lastUse = ++this.clock;
      found.push(block.cache!);
    }
    return found;
  }

  /** Caches the block of a prompt that begins at position `start`, copied from `from` at the same position. */
  store(prompt: readonly PositionKey[], start: number, from: Omit<CacheRange, 'start'>): void {
    const parent = this.blockBefore(prompt, start);
    const tokens = blockKey(prompt, start);
    if (!parent || parent.children.has(tokens)) return;
    const cache = new KvCache(this.tensors, 1, blockSize);
    if (cache.bytes > this.capacityBytes) return;
    cache.copyFrom({ ...from, start }, 0, 0, blockSize);
    parent.children.set(tokens, { tokens, parent, children: new Map(), cache, lastUse: ++this.clock });
    this.usedBytes += cache.bytes;
    while (this.usedBytes > this.capacityBytes) this.evictOne();
  }

  private blockBefore(prompt: readonly PositionKey[], end: number): Block | undefined {
    let block: Block | undefined = this.root;
    for (let start = 0; start < end && block; start += blockSize) {
      block = block.children.get(blockKey(prompt, start));
    }
    return block;
  }

  private evictOne(): void {
    let oldest: Block | undefined;
    for (const leaf of leavesOf(this.root)) if (!oldest || leaf.lastUse < oldest.lastUse) oldest = leaf;
    if (!oldest?.parent) return;
    oldest.parent.children.delete(oldest.tokens);
    this.usedBytes -= oldest.cache!.bytes;
  }
}

function blockKey(prompt: readonly PositionKey[], start: number): string {
  return prompt.slice(start, start + blockSize).join(',');
}

function* leavesOf(block: Block): Generator<Block> {
  for (const child of block.children.values()) {
    if (child.children.size === 0) yield child;
    else yield* leavesOf(child);
  }
}
