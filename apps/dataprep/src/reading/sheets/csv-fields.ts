/** Lets a text of any length be read in steps of a line. */
const lineEnd = /\r\n|\n|\r/g;
/** A quoted field with more line ends was probably never closed. */
const maxLinesOfField = 500;

/** Records of a text with separated fields. A blank line is an empty record. */
export function parseFields(text: string, delimiter: string, maxRecords = Infinity): string[][] {
  const records: string[][] = [];
  let width = 0;
  let at = 0;
  while (at < text.length && records.length < maxRecords) {
    lineEnd.lastIndex = at;
    const found = lineEnd.exec(text);
    const end = found?.index ?? text.length;
    const line = text.slice(at, end);
    const next = found ? lineEnd.lastIndex : text.length;
    const quoted = line.includes('"') ? quotedRecord(text, at, delimiter) : undefined;
    // A record of several lines with another number of fields begins with a quotation mark that is not closed.
    const isBroken = quoted !== undefined && quoted.end > next && quoted.fields.length !== width && width > 1;
    const { fields, end: after } =
      quoted && !(isBroken && plainFields(line, delimiter).length === width)
        ? quoted
        : { fields: line.trim() === '' ? [] : plainFields(line, delimiter), end: next };
    records.push(fields);
    if (fields.length > 1) width ||= fields.length;
    at = after;
  }
  return records;
}

/** The fields of a line whose quotation marks do not enclose fields. */
function plainFields(line: string, delimiter: string): string[] {
  const fields = line.split(delimiter);
  return line.includes('"') ? fields.map((field) => field.replace(/^\s*"(?=[^"]*$)/, '')) : fields;
}

/** A record with quoted fields from a place on; undefined if a quotation mark is not closed at the end of a field. */
function quotedRecord(
  text: string,
  start: number,
  delimiter: string,
): { fields: string[]; end: number } | undefined {
  const fields: string[] = [];
  let at = start;
  for (;;) {
    const field = fieldAt(text, at, delimiter);
    if (!field) return undefined;
    fields.push(field.text);
    at = field.end;
    if (text.startsWith(delimiter, at)) at += delimiter.length;
    else return { fields, end: at + (text.startsWith('\r\n', at) ? 2 : 1) };
  }
}

/** The field at a place, which ends before a delimiter, a line end or the end of the text. */
function fieldAt(text: string, start: number, delimiter: string): { text: string; end: number } | undefined {
  let at = skipBlanks(text, start, delimiter);
  if (text[at] !== '"') {
    lineEnd.lastIndex = start;
    const line = text.slice(start, lineEnd.exec(text)?.index);
    const cut = line.indexOf(delimiter);
    return cut === -1
      ? { text: line, end: start + line.length }
      : { text: line.slice(0, cut), end: start + cut };
  }
  const begin = at + 1;
  let close = text.indexOf('"', begin);
  while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
  if (close === -1) return undefined;
  at = skipBlanks(text, close + 1, delimiter);
  const field = text.slice(begin, close);
  if (!isEnd(text, at, delimiter) || countLines(field) > maxLinesOfField) return undefined;
  return { text: field.replaceAll('""', '"'), end: at };
}

/** Index of the first character that is neither a space nor a tab between fields. */
function skipBlanks(text: string, start: number, delimiter: string): number {
  const blanks = delimiter === '\t' ? ' ' : ' \t';
  let at = start;
  while (at < text.length && blanks.includes(text[at]!)) at += 1;
  return at;
}

const isEnd = (text: string, at: number, delimiter: string) =>
  at >= text.length || text[at] === '\n' || text[at] === '\r' || text.startsWith(delimiter, at);

const countLines = (text: string) => text.match(lineEnd)?.length ?? 0;
