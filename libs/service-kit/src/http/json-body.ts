import { MegaNestError } from '#contracts';

const maxDepth = 64;

/** A body's text. Errors: invalid_json where it is not valid UTF-8. */
export function decodeBody(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (cause) {
    throw new MegaNestError('invalid_json', { detail: 'it is not valid UTF-8', cause });
  }
}

/** Parses a JSON body; refuses broken JSON and nesting beyond 64 levels. An empty body is an empty object. */
export function parseJsonBody(text: string): unknown {
  if (text.trim() === '') return {};
  assertDepth(text);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new MegaNestError('invalid_json', { detail: cause instanceof Error ? cause.message : '', cause });
  }
}

/** Counts brackets outside strings before anything is parsed, so that deep input costs nothing. */
function assertDepth(text: string): void {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === 92 /* \ */) index += 1;
      else if (code === 34 /* " */) inString = false;
    } else if (code === 34) inString = true;
    else if (code === 91 /* [ */ || code === 123 /* { */) depth += 1;
    else if (code === 93 /* ] */ || code === 125 /* } */) depth -= 1;
    if (depth > maxDepth) {
      throw new MegaNestError('invalid_json', { detail: `it is nested deeper than ${maxDepth} levels` });
    }
  }
}
