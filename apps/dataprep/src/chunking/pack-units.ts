import type { TextUnit } from './text-units.js';

/** Sizes in words. */
export interface ChunkingOptions {
  chunkSize: number;
  chunkOverlap: number;
}

/**
 * Packs the units of one section into as few chunks of at most `chunkSize` words as a greedy pass needs, then evens
 * their lengths out, so that no section ends in a stub. Each chunk repeats the last whole sentences of the one before
 * it, as many as `chunkOverlap` words hold.
 */
export function packUnits(units: TextUnit[], options: ChunkingOptions): TextUnit[][] {
  const packed = packGreedily(units, options);
  if (packed.length <= 1) return packed;
  let low = units.reduce((longest, unit) => Math.max(longest, unit.words), 1);
  let high = options.chunkSize;
  while (low < high) {
    const chunkSize = Math.floor((low + high) / 2);
    if (packGreedily(units, { ...options, chunkSize }).length <= packed.length) high = chunkSize;
    else low = chunkSize + 1;
  }
  return packGreedily(units, { ...options, chunkSize: high });
}

function packGreedily(units: TextUnit[], { chunkSize, chunkOverlap }: ChunkingOptions): TextUnit[][] {
  const chunks: TextUnit[][] = [];
  let current: TextUnit[] = [];
  let words = 0;
  for (const unit of units) {
    if (current.length > 0 && words + unit.words > chunkSize) {
      chunks.push(current);
      current = tailOf(current, Math.min(chunkOverlap, chunkSize - unit.words));
      words = current.reduce((sum, { words }) => sum + words, 0);
    }
    current.push(unit);
    words += unit.words;
  }
  return current.length > 0 ? [...chunks, current] : chunks;
}

/** The last whole units within the budget, never all of them. */
function tailOf(units: TextUnit[], maxWords: number): TextUnit[] {
  let first = units.length;
  let words = 0;
  while (first > 1) {
    const before = units[first - 1];
    if (!before?.whole || words + before.words > maxWords) break;
    words += before.words;
    first -= 1;
  }
  return units.slice(first);
}
