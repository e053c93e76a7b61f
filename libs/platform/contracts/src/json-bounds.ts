import { MegaNestError } from './errors.js';

/** Bounds of a JSON text that are checked before it is parsed. */
export interface JsonBounds {
  /** Maximum levels of nesting. */
  depth: number;
  /** Maximum objects and lists. A schema works on each of them. */
  containers: number;
  /** Maximum elements of lists and fields of objects, in all. */
  values: number;
  /** Maximum elements of one list. */
  elements: number;
  /** Maximum fields of one object. */
  keys: number;
}

/** Bounds of a body from a client. */
export const bodyBounds: JsonBounds = {
  depth: 64,
  containers: 20_000,
  values: 100_000,
  elements: 20_000,
  keys: 2_048,
};

/** Bounds of a body that may hold texts as tokens: OpenAI's limit of a request is 300,000 tokens. */
export const tokensBounds: JsonBounds = { ...bodyBounds, values: 310_000, elements: 300_000 };

/** Bounds of a message between services: the body of a client, with what the services add to it. */
export const messageBounds: JsonBounds = {
  depth: 96,
  containers: 60_000,
  values: 1_000_000,
  elements: 600_000,
  keys: 10_000,
};

const code = {
  quote: 34,
  comma: 44,
  colon: 58,
  openList: 91,
  backslash: 92,
  closeList: 93,
  open: 123,
  close: 125,
};

/**
 * Counts the brackets, commas and colons outside strings, in one pass and before anything is parsed. A schema may need
 * much more time and memory for an element than the element's two characters suggest. Errors: invalid_request.
 */
export function assertJsonBounds(text: string, bounds: JsonBounds = bodyBounds): void {
  const count = new Count(bounds);
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case code.quote:
        index = endOfString(text, index);
        break;
      case code.openList:
        count.open('elements');
        break;
      case code.open:
        count.open('keys');
        break;
      case code.closeList:
      case code.close:
        count.close();
        break;
      case code.comma:
        count.next();
        break;
    }
  }
}

type Content = 'elements' | 'keys';

/** An object or list with too much, and too much of what. */
const excess = {
  elements: (limit: number) => `has a list with more than ${limit} elements`,
  keys: (limit: number) => `has an object with more than ${limit} fields`,
};

/** The values of a text so far. */
class Count {
  /** What each open object and list has. */
  readonly #contents: Content[] = [];
  /** The commas in each open object and list. */
  readonly #commas: number[] = [];
  #containers = 0;
  #values = 0;

  constructor(private readonly bounds: JsonBounds) {}

  open(content: Content): void {
    this.#contents.push(content);
    this.#commas.push(0);
    this.#containers += 1;
    const { depth, containers } = this.bounds;
    if (this.#contents.length > depth) throw tooMuch(`is nested deeper than ${depth} levels`);
    if (this.#containers > containers) throw tooMuch(`has more than ${containers} objects and lists`);
    this.#add();
  }

  close(): void {
    this.#contents.pop();
    this.#commas.pop();
  }

  next(): void {
    const last = this.#contents.length - 1;
    const content = this.#contents[last];
    if (content === undefined) return;
    const commas = (this.#commas[last] ?? 0) + 1;
    this.#commas[last] = commas;
    const limit = this.bounds[content];
    if (commas >= limit) throw tooMuch(excess[content](limit));
    this.#add();
  }

  #add(): void {
    this.#values += 1;
    const { values } = this.bounds;
    if (this.#values > values) throw tooMuch(`has more than ${values} elements and fields`);
  }
}

/** The position of the quote that ends a string, or the end of a text that is cut off. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === code.backslash) first -= 1;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}

function tooMuch(what: string): MegaNestError {
  return new MegaNestError('invalid_request', { detail: `The body ${what}, which is the limit.` });
}
