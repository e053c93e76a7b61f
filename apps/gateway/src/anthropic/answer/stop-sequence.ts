/** Finds the stop sequence that ended a text, and takes it out. The text that may be its beginning is held back. */
export class StopSequenceFilter {
  #held = '';

  constructor(private readonly sequences: readonly string[]) {}

  /** Adds a piece of text; returns what cannot belong to a stop sequence at the end. */
  take(text: string): string {
    const all = this.#held + text;
    const keep = this.#longestEnd(all);
    this.#held = all.slice(all.length - keep);
    return all.slice(0, all.length - keep);
  }

  /** The rest of the text, and the sequence that ended it. */
  end(): { text: string; sequence: string | null } {
    const held = this.#held;
    this.#held = '';
    const sequence = this.sequences.find((each) => held.endsWith(each)) ?? null;
    return { text: sequence === null ? held : held.slice(0, held.length - sequence.length), sequence };
  }

  /** Characters at the end of the text that are a sequence, or the beginning of one. */
  #longestEnd(text: string): number {
    let longest = 0;
    for (const sequence of this.sequences)
      for (let length = Math.min(sequence.length, text.length); length > longest; length -= 1)
        if (text.endsWith(sequence.slice(0, length))) longest = length;
    return longest;
  }
}
