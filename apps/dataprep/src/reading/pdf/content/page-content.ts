import { getResolvedPDFJS } from 'unpdf';
import { textOfGlyph, type PdfFont, type PdfGlyph } from './glyph-text.js';
import { readNotes, type PageNote } from './page-notes.js';
import { identity, moved, multiply, toMatrix, type Matrix } from './matrix.js';
import type { PdfDocument, PdfPage } from './open-pdf.js';
import { rulingsOfPath, type Ruling } from './rulings.js';
import { WordWriter, type PlacedWord } from './word-writer.js';

/** What a page paints; in points, y grows upwards. */
export interface PageContent {
  words: PlacedWord[];
  rulings: Ruling[];
  /** Values of form fields and texts that were put on the page. */
  notes: PageNote[];
  /** Number of glyphs whose text the file does not say, and names of their fonts. */
  unreadable: { glyphs: number; fonts: ReadonlySet<string> };
  /** Number of glyphs with text. */
  readable: number;
  /** Whether the page paints anything. */
  isPainted: boolean;
}

type Operators = Record<string, number>;
type OptionalContent = { isVisible(group: unknown): boolean };

/** Paint operators of paths that leave no line on the page. */
const invisiblePaints = ['endPath', 'clip', 'eoClip'];

/** Reads the words and the lines of a page from its operators. Annotations are left out. */
export async function readPageContent(pdf: PdfDocument, page: PdfPage): Promise<PageContent> {
  const { OPS } = (await getResolvedPDFJS()) as unknown as { OPS: Operators };
  const layers = (await pdf.getOptionalContentConfig()) as unknown as OptionalContent;
  const { fnArray, argsArray } = (await page.getOperatorList({ annotationMode: 0 })) as {
    fnArray: number[];
    argsArray: unknown[][];
  };
  const painter = new PagePainter(OPS, (name) => fontOf(page, name), layers);
  fnArray.forEach((operator, index) => painter.paint(operator, argsArray[index] ?? []));
  return { ...painter.finish(), notes: await readNotes(page), isPainted: fnArray.length > 0 };
}

/** Fonts arrive before the operators that use them. */
function fontOf(page: PdfPage, name: string): PdfFont | undefined {
  return page.commonObjs.has(name) ? (page.commonObjs.get(name) as PdfFont | undefined) : undefined;
}

interface TextState {
  ctm: Matrix;
  font: PdfFont | undefined;
  isBold: boolean;
  size: number;
  charSpacing: number;
  wordSpacing: number;
  scale: number;
  leading: number;
  rise: number;
}

class PagePainter {
  readonly #writer = new WordWriter();
  readonly #rulings: Ruling[] = [];
  readonly #unreadable = { glyphs: 0, fonts: new Set<string>() };
  #readable = 0;
  readonly #saved: TextState[] = [];
  #state: TextState = {
    ctm: identity,
    font: undefined,
    isBold: false,
    size: 1,
    charSpacing: 0,
    wordSpacing: 0,
    scale: 1,
    leading: 0,
    rise: 0,
  };
  #textMatrix: Matrix = identity;
  #lineMatrix: Matrix = identity;
  /** Whether each open marked content is visible. */
  readonly #marked: boolean[] = [];
  readonly #steps: Record<number, (args: unknown[]) => void>;
  readonly #invisible: ReadonlySet<number>;

  constructor(
    operators: Operators,
    private readonly fontOf: (name: string) => PdfFont | undefined,
    private readonly layers: OptionalContent,
  ) {
    this.#invisible = new Set(invisiblePaints.map((name) => operators[name]!));
    const steps = { ...this.#stateSteps(), ...this.#textSteps() };
    this.#steps = Object.fromEntries(Object.entries(steps).map(([name, step]) => [operators[name], step]));
  }

  paint(operator: number, args: unknown[]): void {
    this.#steps[operator]?.(args);
  }

  finish(): Omit<PageContent, 'notes' | 'isPainted'> {
    return {
      words: this.#writer.finish(),
      rulings: this.#rulings,
      unreadable: this.#unreadable,
      readable: this.#readable,
    };
  }

  #stateSteps(): Record<string, (args: unknown[]) => void> {
    const setNumber = (field: 'charSpacing' | 'wordSpacing' | 'rise') => (args: unknown[]) =>
      (this.#state = { ...this.#state, [field]: Number(args[0]) });
    const transform = (matrix: Matrix) =>
      (this.#state = { ...this.#state, ctm: multiply(this.#state.ctm, matrix) });
    const save = () => void this.#saved.push(this.#state);
    const restore = () => (this.#state = this.#saved.pop() ?? this.#state);
    return {
      save,
      restore,
      transform: (args) => transform(toMatrix(args as number[])),
      paintFormXObjectBegin: ([matrix]) => {
        save();
        transform(toMatrix(matrix as number[]));
      },
      paintFormXObjectEnd: restore,
      setCharSpacing: setNumber('charSpacing'),
      setWordSpacing: setNumber('wordSpacing'),
      setTextRise: setNumber('rise'),
      setHScale: ([percent]) => (this.#state = { ...this.#state, scale: Number(percent) / 100 }),
      setLeading: ([leading]) => (this.#state = { ...this.#state, leading: -Number(leading) }),
      setFont: ([name, size]) => {
        const font = this.fontOf(String(name));
        const isBold = font?.bold === true || /bold|black|heavy/i.test(font?.name ?? '');
        this.#state = { ...this.#state, font, isBold, size: Number(size) };
      },
      beginMarkedContent: () => this.#marked.push(true),
      beginMarkedContentProps: ([tag, group]) =>
        this.#marked.push(tag !== 'OC' || this.layers.isVisible(group)),
      endMarkedContent: () => this.#marked.pop(),
      constructPath: ([paint, path]) => this.#paintPath(Number(paint), path),
    };
  }

  #textSteps(): Record<string, (args: unknown[]) => void> {
    return {
      beginText: () => this.#moveTo(identity),
      setTextMatrix: (args) => this.#moveTo(toMatrix((args.length === 1 ? args[0] : args) as number[])),
      moveText: ([x, y]) => this.#moveBy(Number(x), Number(y)),
      setLeadingMoveText: ([x, y]) => {
        this.#state = { ...this.#state, leading: Number(y) };
        this.#moveBy(Number(x), Number(y));
      },
      nextLine: () => this.#moveBy(0, this.#state.leading),
      showText: ([glyphs]) => this.#show(glyphs as (PdfGlyph | number)[]),
    };
  }

  #moveTo(matrix: Matrix): void {
    this.#textMatrix = matrix;
    this.#lineMatrix = matrix;
  }

  #moveBy(x: number, y: number): void {
    this.#moveTo(moved(this.#lineMatrix, x, y));
  }

  #paintPath(paint: number, path: unknown): void {
    const data = (path as (ArrayLike<number> | null)[] | undefined)?.[0];
    if (data && !this.#invisible.has(paint) && !this.#marked.includes(false))
      this.#rulings.push(...rulingsOfPath(data, this.#state.ctm));
  }

  #show(glyphs: (PdfGlyph | number)[]): void {
    const { font, size, charSpacing, wordSpacing, scale } = this.#state;
    const isVertical = font?.vertical === true;
    const place = this.#marked.includes(false) ? undefined : this.#placeOfText();
    const unit = (Math.abs(font?.fontMatrix?.[0] ?? 0.001) || 0.001) * size;
    let distance = 0;
    for (const glyph of glyphs) {
      if (typeof glyph === 'number') {
        distance -= (glyph / 1000) * size * (isVertical ? 1 : scale);
        continue;
      }
      const advance = (isVertical && glyph.vmetric ? glyph.vmetric[0] : glyph.width) * unit;
      place?.(glyph, distance, advance * (isVertical ? 1 : scale));
      const spacing = charSpacing + (glyph.isSpace ? wordSpacing : 0);
      distance += isVertical ? advance - spacing : (advance + spacing) * scale;
    }
    this.#textMatrix = isVertical
      ? moved(this.#textMatrix, 0, distance)
      : moved(this.#textMatrix, distance, 0);
  }

  /** Writes glyphs at their distances from the place where the text begins. */
  #placeOfText(): (glyph: PdfGlyph, distance: number, advance: number) => void {
    const { ctm, font, size, charSpacing, rise, scale } = this.#state;
    const [a, b, c, d, e, f] = multiply(ctm, this.#textMatrix);
    const isVertical = font?.vertical === true;
    const sign = size < 0 ? -1 : 1;
    const stretch = isVertical ? Math.hypot(c, d) : Math.hypot(a, b);
    this.#writer.setStyle({
      spacing: Math.max(0, charSpacing * scale) * stretch,
      size: Math.abs(size) * (isVertical ? Math.hypot(a, b) : Math.hypot(c, d)),
      angle: isVertical ? Math.atan2(-d, -c) : Math.atan2(b * sign, a * sign),
      isBold: this.#state.isBold,
    });
    const [right, up] = isVertical ? [c, d] : [a, b];
    const [startX, startY] = [e + c * rise, f + d * rise];
    return (glyph, distance, advance) => {
      const text = textOfGlyph(glyph, font);
      if (text === undefined) {
        this.#unreadable.glyphs += 1;
        this.#unreadable.fonts.add(font?.name ?? '');
      } else this.#readable += 1;
      this.#writer.add(
        text ?? '',
        startX + right * distance,
        startY + up * distance,
        Math.abs(advance) * stretch,
      );
    };
  }
}
