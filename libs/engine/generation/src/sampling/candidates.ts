import type { RandomSource } from '#engine/models';

/** Distances are counted in this many ranges of equal width. */
const ranges = 1024;

/** Up to this many of the likeliest are kept in order while the logits are read. */
const maxInOrder = 256;

/** The tokens to take. */
interface Selection {
  /** The highest logit. */
  readonly largest: number;
  readonly temperature: number;
  /** A token's weight is at least this share of the highest: above 0, up to 1. */
  readonly lowest: number;
  /** Number of the likeliest tokens; of equals the first. */
  readonly limit: number;
}

/**
 * The tokens that may be drawn, in parallel arrays of the size of the vocabulary: a vocabulary has up to 262,144 tokens,
 * and an object for each of them, sorted by weight, takes longer than the pass of a small model. The arrays are used again
 * for each token.
 */
export class Candidates {
  /** Candidates are at the indexes below `count`. */
  private count = 0;
  private ids = new Int32Array(0);
  /** Distance to the highest logit, divided by the temperature: the weight is exp(−distance). */
  private distances = new Float64Array(0);
  private weights = new Float64Array(0);
  private readonly sums = new Float64Array(ranges);
  /** Upper limit of the distances. */
  private reach = 0;

  /**
   * Takes tokens in the place of those before.
   * @param logits `[vocabularySize]`. Errors: if the highest is not a finite number.
   */
  fill(logits: Float32Array, { largest, temperature, lowest, limit }: Selection): void {
    if (!Number.isFinite(largest)) throw new Error('The model returned logits that are not finite numbers.');
    if (this.ids.length < logits.length) this.grow(logits.length);
    this.reach = -Math.log(lowest);
    const threshold = largest - this.reach * temperature;
    if (limit <= maxInOrder) this.takeLikeliest(logits, threshold, limit);
    else this.takeAll(logits, threshold);
    const { distances, count } = this;
    for (let index = 0; index < count; index++)
      distances[index] = (largest - distances[index]!) / temperature;
    if (limit < count) {
      this.weights.fill(1, 0, count);
      this.keepNearest(limit);
    }
  }

  /** Puts the logits into `distances`, in the order of their ids. */
  private takeAll(logits: Float32Array, threshold: number): void {
    const { ids, distances } = this;
    let count = 0;
    for (let id = 0; id < logits.length; id++) {
      const logit = logits[id]!;
      if (!(logit >= threshold)) continue;
      ids[count] = id;
      distances[count++] = logit;
    }
    this.count = count;
  }

  /** Puts the highest logits into `distances`, the highest first. */
  private takeLikeliest(logits: Float32Array, threshold: number, limit: number): void {
    const { ids, distances } = this;
    let count = 0;
    for (let id = 0; id < logits.length; id++) {
      const logit = logits[id]!;
      const isTaken = count < limit ? logit >= threshold : logit > distances[limit - 1]!;
      if (!isTaken) continue;
      let place = count < limit ? count++ : limit - 1;
      for (; place > 0 && distances[place - 1]! < logit; place--) {
        ids[place] = ids[place - 1]!;
        distances[place] = distances[place - 1]!;
      }
      ids[place] = id;
      distances[place] = logit;
    }
    this.count = count;
  }

  /** Keeps the smallest number of the likeliest whose weights sum up to this share of all weights; at least one. */
  keepShare(share: number): void {
    this.weigh();
    this.keepNearest(share * this.total());
  }

  /** Draws one of the candidates by its weight, with exactly one random number. */
  draw(random: RandomSource): number {
    this.weigh();
    const { ids, weights, count } = this;
    let left = random() * this.total();
    for (let index = 0; index < count; index++) {
      left -= weights[index]!;
      if (left < 0) return ids[index]!;
    }
    return ids[count - 1]!;
  }

  /**
   * Keeps the nearest candidates until the sum of `weights` reaches the limit. Only those in the range of distances where
   * this happens are sorted.
   */
  private keepNearest(limit: number): void {
    const { sums, ids, distances, weights } = this;
    sums.fill(0);
    for (let index = 0; index < this.count; index++) sums[this.rangeOf(index)]! += weights[index]!;
    let sum = 0;
    let range = 0;
    while (range < ranges - 1 && sum + sums[range]! < limit) sum += sums[range++]!;
    const inRange: number[] = [];
    for (let index = 0; index < this.count; index++) if (this.rangeOf(index) === range) inRange.push(index);
    inRange.sort((left, right) => distances[left]! - distances[right]! || left - right);
    const last = inRange.find((index) => (sum += weights[index]!) >= limit) ?? inRange.at(-1);
    if (last === undefined) return;
    const farthest = distances[last]!;
    let count = 0;
    for (let index = 0; index < this.count; index++) {
      const distance = distances[index]!;
      if (distance > farthest || (distance === farthest && index > last)) continue;
      ids[count] = ids[index]!;
      distances[count] = distance;
      count++;
    }
    this.count = count;
  }

  private rangeOf(index: number): number {
    const { distances, reach } = this;
    return reach > 0 ? Math.min(ranges - 1, Math.floor((distances[index]! / reach) * ranges)) : 0;
  }

  private weigh(): void {
    const { weights, distances, count } = this;
    for (let index = 0; index < count; index++) weights[index] = Math.exp(-distances[index]!);
  }

  private total(): number {
    const { weights, count } = this;
    let total = 0;
    for (let index = 0; index < count; index++) total += weights[index]!;
    return total;
  }

  private grow(size: number): void {
    this.ids = new Int32Array(size);
    this.distances = new Float64Array(size);
    this.weights = new Float64Array(size);
  }
}
