import type { Plane } from './slab-layout.js';
import { SlabSet, type SlabRange } from './slab-set.js';

/**
 * Positions of a block. Prompts go in by pieces of this size from position 0 on, so that a block holds the same
 * numbers whichever request computed it.
 */
export const blockSize = 64;

interface Block {
  readonly tokens: string;
  readonly parent: Block | undefined;
  readonly children: Map<string, Block>;
  readonly slabs?: SlabSet;
  lastUse: number;
}

/**
 * Keys and values of prompt beginnings, shared by all requests: a tree of blocks of 64 tokens. Beyond its bytes the
 * leaf that was not used for the longest time goes first.
 */
export class PrefixCache {
  private readonly root: Block = { tokens: '', parent: undefined, children: new Map(), lastUse: 0 };
  private clock = 0;
  private usedBytes = 0;

  constructor(
    private readonly planes: readonly Plane[],
    private readonly capacityBytes: number,
  ) {}

  get bytes(): number {
    return this.usedBytes;
  }

  /** Blocks that a prompt begins with, without its last token, whose logits somebody has to compute. */
  find(prompt: readonly number[]): SlabSet[] {
    const found: SlabSet[] = [];
    let block: Block | undefined = this.root;
    for (let start = 0; start + blockSize < prompt.length; start += blockSize) {
      block = block.children.get(blockKey(prompt, start));
      if (!block) break;
      block.lastUse = ++this.clock;
      found.push(block.slabs!);
    }
    return found;
  }

  /** Keeps the block of a prompt that begins at position `start`, read from `from` at the same position. */
  store(prompt: readonly number[], start: number, from: Omit<SlabRange, 'start'>): void {
    const parent = this.blockBefore(prompt, start);
    const tokens = blockKey(prompt, start);
    if (!parent || parent.children.has(tokens)) return;
    const slabs = new SlabSet(this.planes, 1, blockSize);
    if (slabs.bytes > this.capacityBytes) return;
    slabs.copyFrom({ ...from, start }, 0, 0, blockSize);
    parent.children.set(tokens, { tokens, parent, children: new Map(), slabs, lastUse: ++this.clock });
    this.usedBytes += slabs.bytes;
    while (this.usedBytes > this.capacityBytes) this.evictOne();
  }

  private blockBefore(prompt: readonly number[], end: number): Block | undefined {
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
    this.usedBytes -= oldest.slabs!.bytes;
  }
}

function blockKey(prompt: readonly number[], start: number): string {
  return prompt.slice(start, start + blockSize).join(',');
}

function* leavesOf(block: Block): Generator<Block> {
  for (const child of block.children.values()) {
    if (child.children.size === 0) yield child;
    else yield* leavesOf(child);
  }
}
