/** Texts by key, up to a number of characters; the ones not asked for the longest go first. */
export class TextCache {
  readonly #texts = new Map<string, string>();
  #size = 0;

  constructor(private readonly maxSize: number) {}

  get(key: string): string | undefined {
    const text = this.#texts.get(key);
    if (text !== undefined) {
      this.#texts.delete(key);
      this.#texts.set(key, text);
    }
    return text;
  }

  set(key: string, text: string): void {
    this.#delete(key);
    this.#texts.set(key, text);
    this.#size += text.length;
    for (const oldest of this.#texts.keys()) {
      if (this.#size <= this.maxSize) return;
      this.#delete(oldest);
    }
  }

  #delete(key: string): void {
    this.#size -= this.#texts.get(key)?.length ?? 0;
    this.#texts.delete(key);
  }
}
