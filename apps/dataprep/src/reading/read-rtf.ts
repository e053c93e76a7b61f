import {
  unsupportedFile,
  type DocumentBlock,
  type ParsedDocument,
  type SourceFile,
} from './parsed-document.js';
import { readPlainText } from './read-plain-text.js';
import { revisedText, type Revision } from './revisions.js';
import { textTableBlocks } from './tables/table-rows.js';

/** A control word with its number, a character in hex, another control symbol, a brace, or text. */
const token = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|([^\\{}\r\n]+)|[\r\n]+/gi;

/** Groups without text of the document. */
const hiddenGroups = new Set(
  (
    'fonttbl colortbl stylesheet info pict object header headerl headerr headerf footer footerl footerr footerf ' +
    'listtable listoverridetable rsidtbl generator themedata datastore xmlnstbl latentstyles fldinst nonshppict ' +
    'upr nonesttables'
  ).split(' '),
);

const symbols: Readonly<Record<string, string>> = {
  par: '\n\n',
  sect: '\n\n',
  page: '\n\n',
  line: '\n',
  softline: '\n',
  lbr: '\n',
  tab: '\t',
  nestcell: '; ',
  nestrow: '. ',
  emspace: ' ',
  enspace: ' ',
  qmspace: ' ',
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
  isStruck: boolean;
  isDeleted: boolean;
  isInvisible: boolean;
  isNote: boolean;
}

/** Properties that a control word switches on, and off with the number 0. */
const switches: Readonly<Record<string, 'isStruck' | 'isDeleted' | 'isInvisible'>> = {
  strike: 'isStruck',
  striked: 'isStruck',
  deleted: 'isDeleted',
  v: 'isInvisible',
};

const deepest = 1_000;

/**
 * Reads the paragraphs of a rich-text file, in its code page and in Unicode. There is no maintained library for RTF on
 * Node, and the text alone needs little code.
 */
export function readRtf(file: SourceFile): ParsedDocument {
  const parts = new RtfText(file).read(Buffer.from(file.bytes).toString('latin1'));
  const texts = parts.map((part): ParsedDocument =>
    typeof part === 'string' ? readPlainText(part) : tableOf(part),
  );
  const title = texts.find((part) => part.title !== undefined)?.title;
  return { ...(title !== undefined && { title }), blocks: texts.flatMap(({ blocks }) => blocks) };
}

interface RtfTable {
  rows: string[][];
  /** Rows at the top that the file marks as headers. */
  headerRows: number;
}

function tableOf({ rows, headerRows }: RtfTable): { blocks: DocumentBlock[] } {
  return { blocks: textTableBlocks(rows, { headerRows }) };
}

/** Words about cells and rows. */
const tableWords = new Set('trowd intbl pard trhdr cell row'.split(' '));

class RtfText {
  #text = '';
  #bytes: number[] = [];
  #decoder = new TextDecoder('windows-1252');
  /** Number of characters to skip after a Unicode character. */
  #skip = 0;
  readonly #groups: GroupState[] = [
    { hidden: false, fallback: 1, isStruck: false, isDeleted: false, isInvisible: false, isNote: false },
  ];
  readonly #parts: (string | RtfTable)[] = [];
  #table: RtfTable | undefined;
  #cells: string[] = [];
  /** Whether the text belongs to a row. */
  #isInRow = false;
  #isHeader = false;
  #note = '';

  constructor(private readonly file: Pick<SourceFile, 'filename' | 'keepRevisions'>) {}

  /** The texts and the tables of the file, in order. */
  read(source: string): (string | RtfTable)[] {
    for (const [, word, number, hex, symbol, brace, text] of source.matchAll(token)) {
      if (brace) this.#brace(brace);
      else if (word) this.#word(word.toLowerCase(), number === undefined ? undefined : Number(number));
      else if (hex) this.#byte(Number.parseInt(hex, 16));
      else if (symbol) this.#symbol(symbol);
      else if (text) this.#plain(text);
    }
    this.#flush();
    this.#endParagraph();
    this.#endTable();
    this.#parts.push(this.#text);
    return this.#parts;
  }

  get #group(): GroupState {
    return this.#groups.at(-1)!;
  }

  #brace(brace: string): void {
    this.#flush();
    this.#skip = 0;
    if (brace === '}') {
      if (this.#groups.length > 1) this.#groups.pop();
    } else if (this.#groups.length > deepest)
      throw unsupportedFile(this.file.filename, 'it is nested too deeply');
    else this.#groups.push({ ...this.#group });
  }

  #word(word: string, number: number | undefined): void {
    const property = switches[word];
    if (hiddenGroups.has(word)) this.#group.hidden = true;
    else if (property) this.#switch(property, number !== 0);
    else if (tableWords.has(word)) this.#tableWord(word);
    // The Unicode half of a text in both forms.
    else if (word === 'ud') this.#group.hidden = false;
    else if (word === 'footnote') this.#group.isNote = true;
    else if (word === 'plain')
      for (const name of ['isStruck', 'isInvisible'] as const) this.#switch(name, false);
    else if (word === 'ansicpg') this.#decoder = decoderOf(number);
    else if (word === 'uc') this.#group.fallback = number ?? 1;
    else if (word === 'u' && number !== undefined) {
      // RTF writes numbers above 32767 as negative numbers.
      this.#write(String.fromCharCode(number & 0xffff));
      this.#skip = this.#group.fallback;
    } else if (symbols[word] !== undefined) {
      this.#write(symbols[word]);
      if (symbols[word] === '\n\n') this.#endParagraph();
    }
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

  #switch(property: 'isStruck' | 'isDeleted' | 'isInvisible', isOn: boolean): void {
    this.#flush();
    this.#group[property] = isOn;
  }

  #write(text: string): void {
    this.#flush();
    if (!this.#group.hidden) this.#add(text);
  }

  #add(text: string): void {
    const { isStruck, isDeleted, isInvisible, isNote } = this.#group;
    const revision: Revision | undefined = isDeleted
      ? 'deleted'
      : isInvisible
        ? 'hidden'
        : isStruck
          ? 'struck'
          : undefined;
    const isText = text.trim() !== '';
    const shown = revision && isText ? revisedText(text, revision, this.file.keepRevisions) : text;
    if (isNote) this.#note += shown;
    else {
      if (isText && !this.#isInRow) this.#endTable();
      this.#text += shown;
    }
  }

  /** Notes follow the paragraph that refers to them. */
  #endParagraph(): void {
    if (this.#note.trim() === '' || this.#group.isNote) return;
    this.#text += `${this.#isInRow ? ' ' : '\n\n'}${this.#note.trim()}${this.#isInRow ? '' : '\n\n'}`;
    this.#note = '';
  }

  /** Follows the cells and rows of tables. Text within a row is that of a cell. */
  #tableWord(word: string): void {
    this.#flush();
    if (this.#group.hidden) return;
    if (word === 'pard') this.#isInRow = false;
    else if (word === 'trhdr') this.#isHeader = true;
    else if (word === 'cell') this.#endCell();
    else if (word === 'row') this.#endRow();
    else {
      if (!this.#table) {
        this.#parts.push(this.#text);
        this.#text = '';
        this.#table = { rows: [], headerRows: 0 };
      }
      this.#isInRow = true;
    }
  }

  #endCell(): void {
    this.#endParagraph();
    this.#cells.push(this.#text);
    this.#text = '';
  }

  #endRow(): void {
    const table = this.#table;
    if (table && this.#isHeader && table.headerRows === table.rows.length) table.headerRows += 1;
    table?.rows.push(this.#cells);
    this.#cells = [];
    this.#isHeader = false;
    this.#isInRow = false;
  }

  #endTable(): void {
    if (!this.#table) return;
    const last = this.#cells.length > 0 ? [this.#cells] : [];
    this.#parts.push({ ...this.#table, rows: [...this.#table.rows, ...last] });
    this.#table = undefined;
    this.#cells = [];
  }

  /** Decodes the collected bytes: a character of several bytes comes byte by byte. */
  #flush(): void {
    if (this.#bytes.length === 0) return;
    const text = this.#decoder.decode(Uint8Array.from(this.#bytes));
    this.#bytes = [];
    this.#add(text);
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
