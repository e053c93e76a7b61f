/** The one argument of the function that a custom tool is to the model. */
export const rawInputName = 'input';

const opening = new RegExp(`^\\s*\\{\\s*"${rawInputName}"\\s*:\\s*"`);

/** The raw input of a custom tool out of the JSON that carries it, as it comes. */
export class RawInput {
  #json = '';
  /** Where in the JSON the text begins; undefined until it does. */
  #from: number | undefined;
  #ended = false;
  #written = '';

  /** What is new of the input, whole characters only. */
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

  /** What is left when the JSON is complete: of JSON in another form, its only text or all of it. */
  end(): string {
    if (this.#from !== undefined) return '';
    return onlyText(this.#json) ?? this.#json;
  }

  #take(from: number, end: number): string {
    const raw = this.#json.slice(from, end);
    const text = decode(raw);
    if (text === undefined) return '';
    // A high surrogate waits for its other half.
    const whole = /[\uD800-\uDBFF]$/.test(text) && !this.#ended ? text.slice(0, -1) : text;
    const piece = whole.slice(this.#written.length);
    this.#written = whole;
    return piece;
  }
}

/** Characters of the escape at a place; undefined where it is not complete yet. */
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
