import { Parser } from 'htmlparser2';
import { revisedText } from '../revisions.js';
import type { XmlArchive } from '../archives/archive.js';
import type { ShowNumber } from './date-format.js';
import { formatCodes, showNumberOf } from './number-format.js';

/** How a cell of a style is shown. */
export interface CellStyle {
  show?: ShowNumber;
  isStruck?: boolean;
  isBold?: boolean;
}

const local = (name: string) => (name.includes(':') ? name.slice(name.indexOf(':') + 1) : name);

/** Calls back for the elements of an XML file, by their names without prefixes. */
export function parseXml(
  text: string,
  handler: {
    open?: (name: string, attributes: Record<string, string>) => void;
    text?: (text: string) => void;
    close?: (name: string) => void;
  },
): void {
  const parser = new Parser(
    {
      onopentag: (name, attributes) => handler.open?.(local(name), attributes),
      ontext: (part) => handler.text?.(part),
      onclosetag: (name) => handler.close?.(local(name)),
    },
    { xmlMode: true },
  );
  parser.write(text);
  parser.end();
}

/** Texts with runs: a workbook's common texts, and the text of a cell of its own. Phonetic guides are left out. */
export class RichText {
  #text = '';
  #run = '';
  #isText = false;
  #isStruck = false;
  #phonetic = 0;

  constructor(private readonly keepsRevisions: boolean) {}

  open(name: string, attributes: Record<string, string>): void {
    if (name === 'rPh') this.#phonetic += 1;
    else if (name === 'r') this.#endRun();
    else if (name === 't') this.#isText = this.#phonetic === 0;
    else if (name === 'strike') this.#isStruck = isOn(attributes);
  }

  add(text: string): void {
    if (this.#isText) this.#run += text;
  }

  close(name: string): void {
    if (name === 'rPh') this.#phonetic -= 1;
    else if (name === 't') this.#isText = false;
    else if (name === 'r') this.#endRun();
  }

  /** The whole text; the next one begins. */
  take(): string {
    this.#endRun();
    const text = this.#text;
    this.#text = '';
    return text.replaceAll(/_x([0-9A-F]{4})_/g, (_found, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
  }

  #endRun(): void {
    this.#text += this.#isStruck ? revisedText(this.#run, 'struck', this.keepsRevisions) : this.#run;
    this.#run = '';
    this.#isStruck = false;
  }
}

/** Whether a property of a font is on; without a value it is. */
export function isOn(attributes: Record<string, string>): boolean {
  return !/^(?:0|false|off|none)$/i.test(attributes['val'] ?? '');
}

/** The texts that cells refer to by number. */
export function sharedTexts(
  archive: XmlArchive,
  path: string | undefined,
  keepsRevisions: boolean,
): string[] {
  if (path === undefined || !archive.has(path)) return [];
  const texts: string[] = [];
  const rich = new RichText(keepsRevisions);
  parseXml(archive.text(path), {
    open: (name, attributes) => rich.open(name, attributes),
    text: (text) => rich.add(text),
    close: (name) => {
      if (name === 'si') texts.push(rich.take());
      else rich.close(name);
    },
  });
  return texts;
}

/** The styles of cells, by their numbers. */
export function cellStyles(archive: XmlArchive, path: string | undefined, uses1904: boolean): CellStyle[] {
  if (path === undefined || !archive.has(path)) return [];
  const codes: [id: string, code: string][] = [];
  const fonts: CellStyle[] = [];
  const cells: { format: string; font: number }[] = [];
  const within: string[] = [];
  parseXml(archive.text(path), {
    open: (name, attributes) => {
      const parent = within.at(-1);
      within.push(name);
      if (name === 'numFmt') codes.push([attributes['numFmtId'] ?? '', attributes['formatCode'] ?? '']);
      else if (name === 'font' && parent === 'fonts') fonts.push({});
      else if (parent === 'font' && within.includes('fonts')) readFont(fonts.at(-1), name, attributes);
      else if (name === 'xf' && parent === 'cellXfs')
        cells.push({ format: attributes['numFmtId'] ?? '0', font: Number(attributes['fontId'] ?? 0) });
    },
    close: () => void within.pop(),
  });
  const known = formatCodes(codes);
  const shown = new Map<string, ShowNumber | undefined>();
  return cells.map(({ format, font }) => {
    if (!shown.has(format)) shown.set(format, showNumberOf(known.get(format) ?? '', uses1904));
    const show = shown.get(format);
    return { ...fonts[font], ...(show && { show }) };
  });
}

function readFont(font: CellStyle | undefined, name: string, attributes: Record<string, string>): void {
  if (!font) return;
  if (name === 'strike') font.isStruck = isOn(attributes);
  if (name === 'b') font.isBold = isOn(attributes);
}
