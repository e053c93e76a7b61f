import type { TextTokenizer } from './text-tokenizer.js';

/** Token ids with the segment (0 or 1) that each belongs to. */
export interface EncodedSequence {
  readonly ids: readonly number[];
  readonly segments: readonly number[];
}

/**
 * The marks a model wants around one text and around two, e.g. `[CLS] a [SEP]` and `[CLS] a [SEP] b [SEP]`. Learnt
 * once from the tokenizer, so that texts can be cut to the limit without losing the marks, and queries encoded once.
 */
export class SequenceTemplate {
  private constructor(
    private readonly single: { before: readonly number[]; after: readonly number[] },
    private readonly pair: {
      before: readonly number[];
      between: readonly number[];
      after: readonly number[];
      betweenSegments: readonly number[];
      secondSegment: number;
    },
  ) {}

  static from(tokenizer: TextTokenizer): SequenceTemplate {
    const first = tokenizer.encode('a');
    const second = tokenizer.encode('b');
    const single = tokenizer.encodeMarked('a');
    const start = indexOfRun(single, first, 0);
    const { ids, segments } = tokenizer.encodePair('a', 'b');
    const firstAt = indexOfRun(ids, first, 0);
    const firstEnd = firstAt + first.length;
    const secondAt = indexOfRun(ids, second, firstEnd);
    const secondEnd = secondAt + second.length;
    return new SequenceTemplate(
      { before: single.slice(0, start), after: single.slice(start + first.length) },
      {
        before: ids.slice(0, firstAt),
        between: ids.slice(firstEnd, secondAt),
        after: ids.slice(secondEnd),
        betweenSegments: segments.slice(firstEnd, secondAt),
        secondSegment: segments[secondAt] ?? 0,
      },
    );
  }

  get singleMarks(): number {
    return this.single.before.length + this.single.after.length;
  }

  get pairMarks(): number {
    return this.pair.before.length + this.pair.between.length + this.pair.after.length;
  }

  /** Marks around one text; ids that carry them already stay as they are. */
  wrap(ids: readonly number[]): EncodedSequence {
    const { before, after } = this.single;
    const marked = before.length > 0 && before.every((id, index) => ids[index] === id);
    const all = marked ? ids : [...before, ...ids, ...after];
    return { ids: all, segments: all.map(() => 0) };
  }

  wrapPair(first: readonly number[], second: readonly number[]): EncodedSequence {
    const { before, between, after, betweenSegments, secondSegment } = this.pair;
    return {
      ids: [...before, ...first, ...between, ...second, ...after],
      segments: [
        ...before.map(() => 0),
        ...first.map(() => 0),
        ...betweenSegments,
        ...second.map(() => secondSegment),
        ...after.map(() => secondSegment),
      ],
    };
  }
}

function indexOfRun(ids: readonly number[], run: readonly number[], from: number): number {
  for (let start = from; start + run.length <= ids.length; start++) {
    if (run.every((id, offset) => ids[start + offset] === id)) return start;
  }
  return from;
}
