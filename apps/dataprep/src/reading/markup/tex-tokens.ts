/** A piece of TeX source. */
export type TexToken =
  | { kind: 'text'; text: string }
  | { kind: 'command'; text: string }
  | { kind: 'open' | 'close' | 'cell' | 'math' | 'paragraph'; text: string };

const tokenPattern =
  /\\(?<command>[A-Za-z@]+\*?)[ \t]*\n?[ \t]*|\\(?<symbol>[^A-Za-z@])|(?<comment>%[^\n]*(?:\n[ \t]*|$))|(?<open>\{)|(?<close>\})|(?<cell>&)|(?<math>\$\$?)|(?<paragraph>\n[ \t]*(?:\n[ \t]*)+)|(?<text>[^\\%{}&$\n]+|\n|\\)/g;

/** Environments whose content is not TeX. */
const verbatim = /\\begin\{(verbatim\*?|Verbatim|lstlisting|minted|alltt|comment|filecontents\*?)\}/g;
/** Text of one command, delimited by any character: `\verb|x|`. */
const verb = /\\(?:verb\*?|lstinline)([^A-Za-z*\s{])([^\n]*?)\1/g;

/** Addresses, in which a percent sign begins no comment. */
const address = /\\(url|nolinkurl|href)\{([^{}\n]*)\}/g;

/** The tokens of a text, without comments. Line ends are spaces; empty lines end a paragraph. */
export function texTokens(source: string): TexToken[] {
  const tokens: TexToken[] = [];
  let at = 0;
  const readUntil = (end: number) => {
    for (const { groups = {} } of source.slice(at, end).matchAll(tokenPattern)) {
      const [kind, text] = Object.entries(groups).find(([, found]) => found !== undefined) ?? ['text', ''];
      if (kind === 'symbol') tokens.push({ kind: 'command', text });
      else if (kind !== 'comment') tokens.push({ kind: kind as TexToken['kind'], text });
    }
  };
  for (const literal of literalsOf(source)) {
    if (literal.index < at) continue;
    readUntil(literal.index);
    at = literal.end;
    tokens.push(...literal.tokens);
  }
  readUntil(source.length);
  return tokens;
}

interface Literal {
  index: number;
  end: number;
  tokens: TexToken[];
}

/** A command whose argument is a text. */
function commandOf(name: string, text: string): TexToken[] {
  return [
    { kind: 'command', text: name },
    { kind: 'open', text: '{' },
    { kind: 'text', text },
    { kind: 'close', text: '}' },
  ];
}

const endOf = (found: RegExpExecArray) => found.index + found[0].length;

/** Literal parts in their order. Commented environments have no text. */
function literalsOf(source: string): Literal[] {
  const blocks = [...source.matchAll(verbatim)].map((found): Literal => {
    const begin = found.index + found[0].length;
    const mark = `\\end{${found[1]!}}`;
    const close = source.indexOf(mark, begin);
    const end = close === -1 ? source.length : close;
    const isSilent = /^(?:comment|filecontents)/.test(found[1]!);
    const text = source.slice(begin, end).replace(/^(?:\[[^\]\n]*\])?(?:\{[^}\n]*\})?[ \t]*\n?/, '');
    return {
      index: found.index,
      end: end + mark.length,
      tokens: isSilent ? [] : commandOf('verbatim-block', text),
    };
  });
  const inline = [...source.matchAll(verb)].map((found): Literal => ({
    index: found.index,
    end: endOf(found),
    tokens: [{ kind: 'text', text: found[2]! }],
  }));
  const addresses = [...source.matchAll(address)].map((found): Literal => ({
    index: found.index,
    end: endOf(found),
    tokens: commandOf(found[1]!, found[2]!.replaceAll(/\\([%#_&~])/g, '$1')),
  }));
  return [...blocks, ...inline, ...addresses]
    .filter(({ index }) => !isCommented(source, index))
    .sort((one, other) => one.index - other.index);
}

const maxLine = 1_000;

/** Whether a place is after a percent sign on its line. */
function isCommented(source: string, at: number): boolean {
  // Lines are short; of a longer one only its end counts.
  const line = source
    .slice(Math.max(source.lastIndexOf('\n', at) + 1, at - maxLine), at)
    .replaceAll(address, '');
  return /(?:^|[^\\])(?:\\\\)*%/.test(line);
}

/** Tokens as they are written. */
export function sourceOf(tokens: readonly TexToken[]): string {
  return tokens
    .map(({ kind, text }, at) => {
      if (kind !== 'command') return text;
      const isWord =
        /^[A-Za-z@]/.test(text) &&
        /^[A-Za-z]/.test(tokens[at + 1]?.text ?? '') &&
        tokens[at + 1]?.kind === 'text';
      return `\\${text}${isWord ? ' ' : ''}`;
    })
    .join('');
}
