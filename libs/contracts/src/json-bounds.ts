import { MegaNestError } from './errors.js';

/** Bounds of a JSON text that are checked before it is parsed. */
export interface JsonBounds {
  /** Maximum levels of nesting. */
  depth: number;
  /** Maximum objects and lists. A schema works on each of them. */
  containers: number;
  /** Maximum elements of lists and fields of objects, in all. */
  values: number;
  /** Maximum fields of one object. */
  keys: number;
}

/** Bounds of a body from a client. */
export const bodyBounds: JsonBounds = { depth: 64, containers: 20_000, values: 500_000, keys: 5_000 };

/** Bounds of a message between services: the body of a client, with what the services add to it. */
export const messageBounds: JsonBounds = { depth: 96, containers: 60_000, values: 1_000_000, keys: 10_000 };

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
 * much more time and memory for an element than the element's two characters suggest. Errors: invalid_json.
 */
export function assertJsonBounds(text: string, bounds: JsonBounds = bodyBounds): void {
  /** Fields of each open object, and 0 for each open list. */
  const fields: number[] = [];
  let containers = 0;
  let values = 0;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case code.quote:
        index = endOfString(text, index);
        break;
      case code.openList:
      case code.open:
        fields.push(0);
        containers += 1;
        values += 1;
        if (fields.length > bounds.depth) throw tooMuch(`it is nested deeper than ${bounds.depth} levels`);
        if (containers > bounds.containers)
          throw tooMuch(`it has more than ${bounds.containers} objects and lists`);
        break;
      case code.closeList:
      case code.close:
        fields.pop();
        break;
      case code.comma:
        values += 1;
        break;
      case code.colon: {
        const last = fields.length - 1;
        fields[last] = (fields[last] ?? 0) + 1;
        if ((fields[last] ?? 0) > bounds.keys) throw tooMuch(`an object has more than ${bounds.keys} fields`);
        break;
      }
    }
    if (values > bounds.values) throw tooMuch(`it has more than ${bounds.values} elements and fields`);
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

function tooMuch(detail: string): MegaNestError {
  return new MegaNestError('invalid_json', { detail });
}
