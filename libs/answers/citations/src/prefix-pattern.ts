/** A group or a look-around at its beginning. */
const group = /^\((\?(?::|=|!|<=|<!))?/;
const quantifier = /^(?:[?*+]|\{\d+(?:,\d*)?\})/;
const escape = /^\\(?:[pPu]\{[^}]*\}|u[\dA-Fa-f]{4}|.)/u;
const characterClass = /^\[(?:\\.|[^\\\]])*\]/u;

/**
 * A pattern for the beginnings of the texts that another pattern matches, at the end of a text: for `\[\d\]` this
 * matches `[` and `[1` at the end. The source may have groups that capture nothing, look-arounds, classes and greedy
 * quantifiers. Each atom becomes optional at the end of the text.
 */
export function prefixPattern(source: string): string {
  const reader = { rest: source };
  return `(?:${readAlternatives(reader)})$`;
}

interface Reader {
  rest: string;
}

function readAlternatives(reader: Reader): string {
  let pattern = '';
  while (reader.rest !== '' && !reader.rest.startsWith(')')) pattern += readAtom(reader);
  return pattern;
}

function readAtom(reader: Reader): string {
  if (/^[|^$]/.test(reader.rest)) return take(reader, /^./u);
  const opening = group.exec(reader.rest);
  const atom = opening ? readGroup(reader, opening) : take(reader, escape, characterClass, /^./u);
  const times = quantifier.test(reader.rest) ? take(reader, quantifier) : '';
  return `(?:${atom}${times}|$)`;
}

function readGroup(reader: Reader, [opening, kind]: RegExpExecArray): string {
  reader.rest = reader.rest.slice(opening.length);
  // What follows, or does not precede, a marker is not a part of it: it is matched as a whole.
  const isLookAround = kind !== undefined && kind !== '?:';
  const before = reader.rest;
  const inner = readAlternatives(reader);
  const raw = before.slice(0, before.length - reader.rest.length);
  reader.rest = reader.rest.slice(1);
  return isLookAround ? `(${kind}${raw})` : `(?:${inner})`;
}

function take(reader: Reader, ...patterns: RegExp[]): string {
  const found =
    patterns.map((pattern) => pattern.exec(reader.rest)?.[0]).find((text) => text !== undefined) ?? '';
  reader.rest = reader.rest.slice(found.length);
  return found;
}
