/** Draws from a seed, so that a generated document is always the same. */
export interface Draw {
  /** A whole number from `min` to `max`. */
  integer(min: number, max: number): number;
  pick<Item>(items: readonly Item[]): Item;
}

/** The generator mulberry32: small, and good enough for examples. */
export function drawFrom(seed: number): Draw {
  let state = seed;
  const next = () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return { integer, pick: (items) => items[integer(0, items.length - 1)]! };
}
