import { partialEnd } from './call-stream.js';

const open = '<think>';
const close = '</think>';

/** Tells what a model thinks from what it says: `<think>…</think>` at the beginning of its answer. */
export class ThinkSplitter {
  #buffer = '';
  #state: 'start' | 'thinking' | 'saying';
  /** Space at the beginning of a part belongs to neither. */
  #fresh = true;

  /** `opened`: the prompt ended with the opening mark. */
  constructor(opened: boolean) {
    this.#state = opened ? 'thinking' : 'start';
  }

  get thinking(): boolean {
    return this.#state === 'thinking';
  }

  push(text: string): { text: string; reasoning: string } {
    this.#buffer += text;
    if (this.#state === 'start' && !this.#decide()) return { text: '', reasoning: '' };
    const reasoning = this.#state === 'thinking' ? this.#think() : '';
    return { text: this.#state === 'saying' ? this.#take(this.#buffer.length) : '', reasoning };
  }

  /** The answer has ended. */
  end(): { text: string; reasoning: string } {
    const rest = this.#buffer;
    this.#buffer = '';
    return this.thinking ? { text: '', reasoning: rest.trimEnd() } : { text: rest, reasoning: '' };
  }

  /** Whether the answer begins with a thought; false where that cannot be told yet. */
  #decide(): boolean {
    const begun = this.#buffer.trimStart();
    if (begun.length < open.length && open.startsWith(begun)) return false;
    const thinks = begun.startsWith(open);
    if (thinks) this.#buffer = begun.slice(open.length);
    this.#fresh = thinks;
    this.#state = thinks ? 'thinking' : 'saying';
    return true;
  }

  #think(): string {
    const at = this.#buffer.indexOf(close);
    if (at < 0) {
      const free = this.#buffer.slice(0, this.#buffer.length - partialEnd(this.#buffer, close)).trimEnd();
      return this.#take(free.length);
    }
    const thought = this.#take(at).trimEnd();
    this.#buffer = this.#buffer.slice(close.length);
    this.#state = 'saying';
    this.#fresh = true;
    return thought;
  }

  #take(length: number): string {
    const taken = this.#buffer.slice(0, length);
    this.#buffer = this.#buffer.slice(length);
    const shown = this.#fresh ? taken.trimStart() : taken;
    if (shown !== '') this.#fresh = false;
    return shown;
  }
}
