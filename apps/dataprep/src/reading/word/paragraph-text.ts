import { codePoint } from 'dingbat-to-unicode';
import type { LinkTargets } from '../html/link-targets.js';
import { isDescription } from '../archives/figures.js';
import { revisedText, type Revision } from '../revisions.js';
import { mathText } from './math-text.js';
import { looksOf, type WordStyle } from './word-styles.js';
import {
  attributeOf,
  childOf,
  elementsOf,
  isOn,
  nameOf,
  textWithin,
  valueOf,
  type XmlElement,
} from '../archives/xml-nodes.js';

/** What the paragraphs of a document share. */
export interface WordContext {
  styles: ReadonlyMap<string, WordStyle>;
  /** Targets of relations by their ids. */
  targets: ReadonlyMap<string, string>;
  /** Paths of pictures by the ids of their relations. */
  pictures: ReadonlyMap<string, string>;
  links: LinkTargets;
  keepsRevisions: boolean;
}

/** The text of a paragraph, and the parts that are not in its line. */
export interface ParagraphText {
  text: string;
  /** Whether all of its text is bold. */
  isBold: boolean;
  /** Contents of text boxes. */
  boxes: XmlElement[];
  /** Notes by their kind and id: `footnote 2`. */
  notes: string[];
  /** Descriptions of pictures. */
  captions: string[];
  /** Paths of pictures. */
  pictures: string[];
  /** Whether text was left out because it is struck out, deleted or hidden. */
  isRevised: boolean;
}

/** Elements whose content is that of a paragraph. */
const wrappers = new Set([
  'smartTag',
  'customXml',
  'sdt',
  'sdtContent',
  'fldSimple',
  'dir',
  'bdo',
  'AlternateContent',
  'Choice',
  'ruby',
  'rubyBase',
]);
const revisions: Readonly<Record<string, Revision>> = {
  ins: 'inserted',
  moveTo: 'inserted',
  del: 'deleted',
  moveFrom: 'deleted',
};
const marks: Readonly<Record<string, string>> = {
  tab: ' ',
  br: ' ',
  cr: ' ',
  ptab: ' ',
  noBreakHyphen: '\u2011',
};

/** Reads the runs of a paragraph. */
export class ParagraphReader {
  readonly #found: ParagraphText = {
    text: '',
    isBold: false,
    boxes: [],
    notes: [],
    captions: [],
    pictures: [],
    isRevised: false,
  };
  readonly #fields: { code: string; start: number | undefined }[] = [];
  #boldCharacters = 0;

  constructor(
    private readonly context: WordContext,
    private readonly style: WordStyle,
  ) {}

  read(paragraph: XmlElement): ParagraphText {
    const { text, hasBold } = this.#merge(this.#pieces(paragraph, undefined));
    return { ...this.#found, text, isBold: hasBold };
  }

  /** Joins pieces; neighbors with the same mark become one. */
  #merge(pieces: readonly Piece[]): { text: string; hasBold: boolean } {
    let text = '';
    let length = 0;
    let run = '';
    pieces.forEach((piece, at) => {
      const { revision } = piece;
      run += piece.text;
      length += piece.text.trim().length;
      if (pieces[at + 1]?.revision === revision && at + 1 < pieces.length) return;
      if (revision !== undefined && revision !== 'inserted' && run.trim() !== '')
        this.#found.isRevised = true;
      text += revision === undefined ? run : revisedText(run, revision, this.context.keepsRevisions);
      run = '';
    });
    return { text, hasBold: length > 0 && this.#boldCharacters >= length };
  }

  #pieces(element: XmlElement, revision: Revision | undefined): Piece[] {
    const pieces: Piece[] = [];
    for (const child of elementsOf(element)) {
      const name = nameOf(child);
      const revised = revisions[name];
      if (name === 'r') for (const piece of this.#run(child, revision)) pieces.push(piece);
      else if (name === 'hyperlink') pieces.push({ text: this.#link(child, revision), revision: undefined });
      else if (name === 'oMath' || name === 'oMathPara') pieces.push({ text: mathText(child), revision });
      else if (revised !== undefined)
        pieces.push(...this.#pieces(child, revision === 'deleted' ? revision : revised));
      else if (wrappers.has(name))
        pieces.push(...this.#pieces(name === 'AlternateContent' ? chosen(child) : child, revision));
    }
    return pieces;
  }

  #link(element: XmlElement, revision: Revision | undefined): string {
    const { text } = this.#merge(this.#pieces(element, revision));
    return this.context.links.shown(text, this.context.targets.get(attributeOf(element, 'id') ?? ''));
  }

  #run(element: XmlElement, revision: Revision | undefined): Piece[] {
    const properties = childOf(element, 'rPr');
    const named = this.context.styles.get(valueOf(properties, 'rStyle') ?? '');
    const { isStruck, isHidden, isBold } = { ...this.style, ...named, ...looksOf(properties) };
    const mark = revision ?? (isHidden === true ? 'hidden' : isStruck === true ? 'struck' : undefined);
    const pieces: Piece[] = [];
    for (const child of elementsOf(element)) {
      const text = this.#runText(child, pieces);
      if (text === '') continue;
      if (isBold === true) this.#boldCharacters += text.trim().length;
      pieces.push({ text, revision: mark });
    }
    return pieces;
  }

  #runText(element: XmlElement, pieces: Piece[]): string {
    const name = nameOf(element);
    if (name === 't' || name === 'delText') return this.#isInCode ? '' : textWithin(element);
    if (name in marks) return marks[name]!;
    switch (name) {
      case 'sym':
        return symbolOf(element);
      case 'instrText':
        if (this.#fields.length > 0) this.#fields.at(-1)!.code += textWithin(element);
        return '';
      case 'fldChar':
        return this.#field(element);
      case 'footnoteReference':
      case 'endnoteReference':
        this.#found.notes.push(`${name.replace('Reference', '')} ${attributeOf(element, 'id') ?? ''}`);
        return '';
      case 'AlternateContent':
        for (const child of elementsOf(chosen(element))) this.#runText(child, pieces);
        return '';
      case 'drawing':
      case 'pict':
      case 'object':
        this.#picture(element);
        return '';
      default:
        return '';
    }
  }

  /** Whether the runs are the code of a field, and not its result. */
  get #isInCode(): boolean {
    return this.#fields.some(({ start }) => start === undefined);
  }

  /** Follows the marks of a field. Its result is text; the address of a link in its code is text as well. */
  #field(element: XmlElement): string {
    const type = attributeOf(element, 'fldCharType');
    if (type === 'begin') {
      this.#fields.push({ code: '', start: undefined });
      const box = childOf(element, 'ffData', 'checkBox');
      if (box) return (isOn(box, 'checked') ?? isOn(box, 'default')) === true ? '☒' : '☐';
    } else if (type === 'separate' && this.#fields.length > 0) this.#fields.at(-1)!.start = 0;
    else if (type === 'end') {
      const target = /^\s*HYPERLINK\s+"([^"]+)"/i.exec(this.#fields.pop()?.code ?? '')?.[1];
      const shown = target === undefined ? '' : this.context.links.shown('x', target).slice(1);
      return this.#isInCode ? '' : shown;
    }
    return '';
  }

  #picture(element: XmlElement): void {
    const waiting = [element];
    for (let node = waiting.pop(); node; node = waiting.pop()) {
      const name = nameOf(node);
      if (name === 'txbxContent') this.#found.boxes.push(node);
      else {
        const caption = name === 'docPr' ? (attributeOf(node, 'descr') ?? '').trim() : '';
        if (isDescription(caption)) this.#found.captions.push(caption);
        const id = attributeOf(node, name === 'blip' ? 'embed' : name === 'imagedata' ? 'id' : '');
        const path = id === undefined ? undefined : this.context.pictures.get(id);
        if (path !== undefined) this.#found.pictures.push(path);
        waiting.push(...elementsOf(name === 'AlternateContent' ? chosen(node) : node).toReversed());
      }
    }
  }
}

interface Piece {
  text: string;
  revision: Revision | undefined;
}

/** The first alternative: programs repeat its content for older ones. */
function chosen(element: XmlElement): XmlElement {
  return childOf(element, 'Choice') ?? childOf(element, 'Fallback') ?? element;
}

function symbolOf(element: XmlElement): string {
  const code = Number.parseInt(attributeOf(element, 'char') ?? '', 16);
  const known = codePoint(attributeOf(element, 'font') ?? '', code & 0xff)?.string;
  if (known !== undefined) return known;
  return Number.isNaN(code) || (code >= 0xe000 && code <= 0xf8ff) ? '' : String.fromCodePoint(code);
}
