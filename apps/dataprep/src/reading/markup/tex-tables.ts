import { sourceOf, type TexToken } from './tex-tokens.js';

/** The groups from a place on. */
export function groupsOf(tokens: readonly TexToken[], from: number): TexToken[][] {
  const groups: TexToken[][] = [];
  let depth = 0;
  for (const token of tokens.slice(from)) {
    if (token.kind === 'open' && (depth += 1) === 1) groups.push([]);
    else if (token.kind === 'close' && (depth -= 1) === 0) continue;
    else if (depth > 0) groups.at(-1)!.push(token);
    else if (token.kind === 'text' && token.text.trim() !== '' && !token.text.trim().startsWith('['))
      groups.push([token]);
  }
  return groups;
}

const rules =
  /^(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|endlastfoot|specialrule|addlinespace|hdashline)$/;

/** The cells of a table. Rows above the first rule within it are its headers. */
export function splitRows(tokens: readonly TexToken[]): {
  rows: TexToken[][][];
  headerRows: number;
  captions: TexToken[][];
} {
  const rows: TexToken[][][] = [[[]]];
  const captions: TexToken[][] = [];
  let headerRows = 0;
  let depth = 0;
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at]!;
    const { kind, text } = token;
    if (kind === 'open') depth += 1;
    if (kind === 'close') depth -= 1;
    const isEmpty = rows.at(-1)!.every((cell) => cell.every((own) => own.text.trim() === ''));
    if (depth === 0 && kind === 'cell') rows.at(-1)!.push([]);
    else if (
      depth === 0 &&
      kind === 'command' &&
      (text === '\\' || text === 'tabularnewline' || text === '\\*')
    )
      rows.push([[]]);
    else if (depth === 0 && kind === 'command' && text === 'caption') {
      captions.push(...groupsOf(tokens, at + 1).slice(0, 1));
      while (at + 1 < tokens.length && tokens[at]!.kind !== 'close') at += 1;
    } else if (kind === 'command' && rules.test(text)) {
      const above = rows.length - (isEmpty ? 1 : 0);
      if (headerRows === 0 && above > 0) headerRows = above;
    } else if (kind !== 'paragraph') rows.at(-1)!.at(-1)!.push(token);
  }
  const filled = rows.filter((row) => row.some((cell) => sourceOf(cell).trim() !== ''));
  return { rows: filled, headerRows: headerRows < filled.length ? headerRows : 0, captions };
}
