/** Name of the only argument of a custom tool, which is a function for the model. */
export const rawInputName = 'input';

const opening = new RegExp(`^\\s*\\{\\s*"${rawInputName}"\\s*:\\s*"`);

/** Extracts the raw input of a custom tool from its streamed JSON. */
export class RawInput {
  #json = '';
  /** Index in the JSON where the text begins; undefined until then. */
  #from: number | undefined;
  #ended = false;
  #written = '';

  /** Returns the new part of the input, in whole characters. */
  push(piece: string): string {
    this.#json += piece;
    this.#from ??= opening.exec(this.#json)?.[0].length;
    if (this.#from === undefined || this.#ended) return '';
    let end = this.#from;
    while (end < this.#json.length && this.#json.charAt(end) !== '"') {
      const length = this.#json.charAt(end) === '\\' ? escapeLength(this.#json, end) : 1;
      if (length === undefined) break;
      end += length;
    }
    this.#ended = this.#json.charAt(end) === '"';
    return this.#take(this.#from, end);
  }

  /** Returns the rest when the JSON is complete: for JSON in another form, its only text or all of it. */
  end(): string {
    if (this.#from !== undefined) return '';
    return onlyText(this.#json) ?? this.#json;
  }

  #take(from: number, end: number): string {
    const raw = this.#json.slice(from, end);
    const text = decode(raw);
    if (text === undefined) return '';
    // A high surrogate is held back until the low surrogate arrives.
    const whole = /[\uD800-\uDBFF]$/.test(text) && !this.#ended ? text.slice(0, -1) : text;
    const piece = whole.slice(this.#written.length);
    this.#written = whole;
    return piece;
  }
}

/** Length of the escape sequence at an index; undefined where it is incomplete. */
function escapeLength(json: string, at: number): number | undefined {
  const length = json.charAt(at + 1) === 'u' ? 6 : 2;
  return at + length <= json.length ? length : undefined;
}

function decode(raw: string): string | undefined {
  try {
    return JSON.parse(`"${raw.replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`) as string;
  } catch {
    return undefined;
  }
}

function onlyText(json: string): string | undefined {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'string') return value;
    const texts = Object.values(value as object).filter((each) => typeof each === 'string');
    return texts.length === 1 ? texts[0] : undefined;
  } catch {
    return undefined;
  }
}
