/**
 * Text that can be told while it is still being said: words on which two hypotheses in a row agree are told, since a later
 * one seldom changes them (local agreement, Liu et al. 2020). Told text is never taken back.
 */
export class AgreedText {
  private told: string[] = [];
  private before: string[] = [];

  /** What a further hypothesis adds to what was told. */
  add(hypothesis: string): string {
    const words = wordsOf(hypothesis);
    const agreed = words.findIndex((word, index) => word !== this.before[index]);
    this.before = words;
    return this.#tell(words.slice(0, agreed < 0 ? words.length : agreed));
  }

  /** What the final text adds; empty where it contradicts what was told, which then stands corrected by itself. */
  finish(text: string): string {
    return this.#tell(wordsOf(text));
  }

  #tell(words: readonly string[]): string {
    const { told } = this;
    if (words.length <= told.length || told.some((word, index) => word !== words[index])) return '';
    const news = words.slice(told.length).join(' ');
    const delta = told.length > 0 ? ` ${news}` : news;
    this.told = [...words];
    return delta;
  }
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}
