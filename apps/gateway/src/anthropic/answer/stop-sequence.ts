/** Finds the stop sequence that ended a text, and takes it out. The text that may be its beginning is held back. */
export class StopSequenceFilter {
  #pending = '';

  constructor(private readonly sequences: readonly string[]) {}

  /** Adds a piece of text; returns what cannot belong to a stop sequence at the end. */
  take(text: string): string {
    const all = this.#pending + text;
    const keep = this.#lengthOfEnd(all);
    this.#pending = all.slice(all.length - keep);
    return all.slice(0, all.length - keep);
  }

  /** The rest of the text, and the sequence that ended it. */
  end(): { text: string; sequence: string | null } {
    const pending = this.#pending;
    this.#pending = '';
    const sequence = this.sequences.find((each) => pending.endsWith(each)) ?? null;
    return {
      text: sequence === null ? pending : pending.slice(0, pending.length - sequence.length),
      sequence,
    };
  }

  /** Characters at the end of the text that are a sequence, or the beginning of one. */
  #lengthOfEnd(text: string): number {
    let maxLength = 0;
    for (const sequence of this.sequences)
      for (let length = Math.min(sequence.length, text.length); length > maxLength; length -= 1)
        if (text.endsWith(sequence.slice(0, length))) maxLength = length;
    return maxLength;
  }
}
