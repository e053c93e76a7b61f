/** Bytes of the scales of a stripe. */
export const headBytes: usize = 16;

/**
 * The product that several threads share, at the address `task`. Each part of it is claimed once: by the thread that asked
 * for it, or by one that serves. So the former does not wait for a thread that sleeps, only
 * for one that computes.
 */
@unmanaged
export class Task {
  /** Parts that are not claimed yet (lower half), and the number of the product (upper half). */
  claims: u64;
  /** Parts that are done. */
  done: i32;
  /** Threads that sleep until there is a product. */
  sleepers: i32;
  /** Not 0: the threads end. */
  ended: i32;
  weights: usize;
  activations: usize;
  factors: usize;
  output: usize;
  outputs: usize;
  columns: usize;
  rows: usize;
  outputsOfPart: usize;
  /** Bits of a weight, 4 or 8. */
  bits: u32;
  /** Columns that share a scale; 0 for weights with a scale for each output. */
  block: usize;
  /** 15. V8 would load a constant again in each round of a loop. */
  mask: u32;
}
