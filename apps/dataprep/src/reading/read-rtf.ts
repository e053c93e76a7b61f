import { unsupportedFile, type ParsedDocument, type SourceFile } from './parsed-document.js';
import { readPlainText } from './read-plain-text.js';

/** A control word with its number, a character in hex, another control symbol, a brace, or text. */
const token = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|([^\\{}\r\n]+)|[\r\n]+/gi;

/** Groups without text of the document. */
const hiddenGroups = new Set(
  (
    'fonttbl colortbl stylesheet info pict object header headerl headerr headerf footer footerl footerr footerf ' +
    'listtable listoverridetable rsidtbl generator themedata datastore xmlnstbl latentstyles fldinst nonshppict'
  ).split(' '),
);

const symbols: Readonly<Record<string, string>> = {
  par: '\n\n',
  sect: '\n\n',
  page: '\n\n',
  row: '\n\n',
  line: '\n',
  tab: '\t',
  cell: '; ',
  emdash: '—',
  endash: '–',
  bullet: '•',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
};

const escaped: Readonly<Record<string, string>> = {
  '\\': '\\',
  '{': '{',
  '}': '}',
  '~': '\u00a0',
  _: '-',
  '\n': '\n\n',
  '\r': '\n\n',
};

interface GroupState {
  hidden: boolean;
  /** Number of characters in the code page of the file that repeat a Unicode character before them. */
  fallback: number;
}

const deepest = 1_000;

/**
 * Reads the paragraphs of a rich-text file, in its code page and in Unicode. There is no maintained library for RTF on
 * Node, and the text alone needs little code.
 */
export function readRtf({ bytes, filename }: SourceFile): ParsedDocument {
  return readPlainText(new RtfText(filename).read(Buffer.from(bytes).toString('latin1')));
}

class RtfText {
  #text = '';
  #bytes: number[] = [];
  #decoder = new TextDecoder('windows-1252');
  /** Number of characters to skip after a Unicode character. */
  #skip = 0;
  readonly #groups: GroupState[] = [{ hidden: false, fallback: 1 }];

  constructor(private readonly filename: string) {}

  read(source: string): string {
    for (const [, word, number, hex, symbol, brace, text] of source.matchAll(token)) {
      if (brace) this.#brace(brace);
      else if (word) this.#word(word.toLowerCase(), number === undefined ? undefined : Number(number));
      else if (hex) this.#byte(Number.parseInt(hex, 16));
      else if (symbol) this.#symbol(symbol);
      else if (text) this.#plain(text);
    }
    this.#flush();
    return this.#text;
  }

  get #group(): GroupState {
    return this.#groups.at(-1)!;
  }

  #brace(brace: string): void {
    this.#flush();
    this.#skip = 0;
    if (brace === '}') {
      if (this.#groups.length > 1) this.#groups.pop();
    } else if (this.#groups.length > deepest) throw unsupportedFile(this.filename, 'it is nested too deeply');
    else this.#groups.push({ ...this.#group });
  }

  #word(word: string, number: number | undefined): void {
    if (hiddenGroups.has(word)) this.#group.hidden = true;
    else if (word === 'ansicpg') this.#decoder = decoderOf(number);
    else if (word === 'uc') this.#group.fallback = number ?? 1;
    else if (word === 'u' && number !== undefined) {
      // RTF writes numbers above 32767 as negative numbers.
      this.#write(String.fromCharCode(number & 0xffff));
      this.#skip = this.#group.fallback;
    } else if (symbols[word] !== undefined) this.#write(symbols[word]);
  }

  #symbol(symbol: string): void {
    // A reader may skip a group with this mark if it does not know it.
    if (symbol === '*') this.#group.hidden = true;
    else if (escaped[symbol] !== undefined) this.#plain(escaped[symbol]);
  }

  #byte(byte: number): void {
    if (this.#skip > 0) this.#skip -= 1;
    else if (!this.#group.hidden) this.#bytes.push(byte);
  }

  #plain(text: string): void {
    const left = Math.min(this.#skip, text.length);
    this.#skip -= left;
    this.#write(text.slice(left));
  }

  #write(text: string): void {
    this.#flush();
    if (!this.#group.hidden) this.#text += text;
  }

  /** Decodes the collected bytes: a character of several bytes comes byte by byte. */
  #flush(): void {
    if (this.#bytes.length === 0) return;
    this.#text += this.#decoder.decode(Uint8Array.from(this.#bytes));
    this.#bytes = [];
  }
}

function decoderOf(page: number | undefined): InstanceType<typeof TextDecoder> {
  const names: Record<number, string> = {
    932: 'shift_jis',
    936: 'gbk',
    949: 'euc-kr',
    950: 'big5',
    65_001: 'utf-8',
  };
  try {
    return new TextDecoder(names[page ?? 0] ?? `windows-${page}`);
  } catch {
    return new TextDecoder('windows-1252');
  }
}
