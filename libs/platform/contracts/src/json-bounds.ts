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
 * much more time and memory for an element than the element's two characters suggest. Errors: invalid_request, with the
 * path of the object or list that has too much, or in which the text has too much. `field` is the field of a form that
 * holds the text.
 */
export function assertJsonBounds(text: string, bounds: JsonBounds = bodyBounds, field?: string): void {
  const count = new Count(bounds);
  for (let index = 0; index < text.length; index += 1) {
    let what: string | undefined;
    switch (text.charCodeAt(index)) {
      case code.quote:
        index = endOfString(text, index);
        break;
      case code.openList:
        what = count.open('elements');
        break;
      case code.open:
        what = count.open('keys');
        break;
      case code.closeList:
      case code.close:
        count.close();
        break;
      case code.comma:
        what = count.next();
        break;
    }
    if (what !== undefined) throw tooMuch(what, within(field, pathAt(text, index)));
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

  /** Returns what the text has too much of. */
  open(content: Content): string | undefined {
    this.#contents.push(content);
    this.#commas.push(0);
    this.#containers += 1;
    const { depth, containers } = this.bounds;
    if (this.#contents.length > depth) return `is nested deeper than ${depth} levels`;
    if (this.#containers > containers) return `has more than ${containers} objects and lists`;
    return this.#add();
  }

  close(): void {
    this.#contents.pop();
    this.#commas.pop();
  }

  /** Returns what the text has too much of. */
  next(): string | undefined {
    const last = this.#contents.length - 1;
    const content = this.#contents[last];
    if (content === undefined) return undefined;
    const commas = (this.#commas[last] ?? 0) + 1;
    this.#commas[last] = commas;
    const limit = this.bounds[content];
    if (commas >= limit) return excess[content](limit);
    return this.#add();
  }

  #add(): string | undefined {
    this.#values += 1;
    const { values } = this.bounds;
    return this.#values > values ? `has more than ${values} elements and fields` : undefined;
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

/** Names of a path, from the root, that an error shows. */
const maxPathNames = 8;
/** Characters of a name that an error shows. */
const maxNameCharacters = 64;

/**
 * The path of the object or list that is open at a position, such as `messages[3].content`, cut to eight names;
 * undefined for the root. A second pass, for errors only.
 */
function pathAt(text: string, position: number): string | undefined {
  /** The name or index of the current value in each open object or list; undefined before its first name. */
  const places: (string | number | undefined)[] = [];
  let name: string | undefined;
  for (let index = 0; index < position; index += 1) {
    switch (text.charCodeAt(index)) {
      case code.quote: {
        const end = endOfString(text, index);
        name = text.slice(index + 1, Math.min(end, index + 1 + maxNameCharacters));
        index = end;
        break;
      }
      case code.colon:
        if (typeof places.at(-1) !== 'number') places[places.length - 1] = name;
        break;
      case code.openList:
        places.push(0);
        break;
      case code.open:
        places.push(undefined);
        break;
      case code.closeList:
      case code.close:
        places.pop();
        break;
      case code.comma: {
        const place = places.at(-1);
        if (typeof place === 'number') places[places.length - 1] = place + 1;
        break;
      }
    }
  }
  // The place within the open one is what goes on there.
  const isOpening = /[[{]/.test(text[position] ?? '');
  const shown = (isOpening ? places : places.slice(0, -1)).slice(0, maxPathNames);
  if (shown.length === 0) return undefined;
  return shown
    .map((place, depth) =>
      typeof place === 'number' ? `[${place}]` : `${depth > 0 ? '.' : ''}${place ?? ''}`,
    )
    .join('');
}

function within(field: string | undefined, path: string | undefined): string | undefined {
  if (field === undefined || path === undefined) return path ?? field;
  return path.startsWith('[') ? field + path : `${field}.${path}`;
}

function tooMuch(what: string, param: string | undefined): MegaNestError {
  const where = param === undefined ? '' : ` (in ${param})`;
  const detail = `The body ${what}, which is the limit${where}.`;
  return new MegaNestError('invalid_request', { detail, ...(param !== undefined && { param }) });
}
