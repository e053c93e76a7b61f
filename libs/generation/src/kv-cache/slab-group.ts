import type { DeltaSequence } from './delta-sequence.js';
import { SlabSet } from './slab-set.js';
import type { Plane } from './slab-layout.js';

/** Capacities are multiples of this: sums then run in the same order whatever the capacity is. */
export const capacityStep = 128;

export function roundCapacity(positions: number): number {
  return Math.max(1, Math.ceil(positions / capacityStep)) * capacityStep;
}

/**
 * Sequences of like length that advance together: slots 0 to n − 1 of one slab set. The set grows and shrinks with
 * its longest member, as every member pays for its capacity.
 */
export class SlabGroup {
  readonly members: DeltaSequence[] = [];
  private set?: SlabSet;

  constructor(private readonly planes: readonly Plane[]) {}

  get bytes(): number {
    return this.set?.bytes ?? 0;
  }

  /** The slabs to run over; only while there are members. */
  get slabs(): SlabSet {
    return this.set!;
  }

  /** Takes a sequence in, with its positions. The first one brings its own slabs along, unless others use them. */
  add(sequence: DeltaSequence, positions: number): void {
    if (this.members.length === 0 && !sequence.group) this.set = sequence.slabs;
    this.reserve(this.members.length + 1, Math.max(this.longest(), positions));
    const slot = this.members.length;
    if (this.set !== sequence.slabs)
      this.set!.copyFrom({ set: sequence.slabs!, slot: sequence.slot, start: 0 }, slot, 0, sequence.length);
    sequence.group?.remove(sequence);
    sequence.group = this;
    sequence.slabs = this.set;
    sequence.slot = slot;
    this.members.push(sequence);
  }

  /** Lets a sequence go; the last one takes its slot. */
  remove(sequence: DeltaSequence): void {
    const last = this.members.pop()!;
    if (last !== sequence) {
      this.set!.copyFrom({ set: this.set!, slot: last.slot, start: 0 }, sequence.slot, 0, last.length);
      last.slot = sequence.slot;
      this.members[last.slot] = last;
    }
    sequence.group = undefined;
    if (this.members.length === 0) this.set = undefined;
  }

  /** Makes room for the longest member to have `positions` positions, and gives back what is much too large. */
  fit(positions: number): void {
    this.reserve(this.members.length, positions);
  }

  private longest(): number {
    return Math.max(0, ...this.members.map(({ length }) => length));
  }

  private reserve(members: number, positions: number): void {
    const capacity = roundCapacity(positions);
    const current = this.set;
    const fits = current && current.batch >= members && current.capacity >= capacity;
    if (fits && current.capacity <= 2 * capacity) return;
    const batch = Math.max(current?.batch ?? 1, 2 ** Math.ceil(Math.log2(members)));
    const set = new SlabSet(this.planes, batch, capacity);
    for (const member of this.members) {
      set.copyFrom({ set: current!, slot: member.slot, start: 0 }, member.slot, 0, member.length);
      member.slabs = set;
    }
    this.set = set;
  }
}
