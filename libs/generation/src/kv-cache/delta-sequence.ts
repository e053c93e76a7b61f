import type { DecoderSequence } from '../backends/decoder-backend.js';
import type { SlabSet } from './slab-set.js';

/** What a sequence asks of the backend that owns its memory. */
export interface SequenceOwner {
  fork(sequence: DeltaSequence): DeltaSequence;
  release(sequence: DeltaSequence): void;
}

/** The group whose slot a sequence occupies. */
export interface SequenceGroup {
  remove(sequence: DeltaSequence): void;
}

/** Where a sequence's keys and values lie: alone while its prompt goes in, then in a slot of a group. */
export class DeltaSequence implements DecoderSequence {
  length = 0;
  slot = 0;
  group?: SequenceGroup;

  constructor(
    private readonly owner: SequenceOwner,
    readonly prompt: readonly number[],
    readonly speculative: boolean,
    /** Undefined once released. */
    public slabs: SlabSet | undefined,
  ) {}

  fork(): DeltaSequence {
    return this.owner.fork(this);
  }

  release(): void {
    this.owner.release(this);
  }

  /** Forgets the positions from `length` on; what lies there is overwritten by the next ones. */
  truncate(length: number): void {
    this.length = length;
  }
}
