import { stemSet } from '#engine/encoders';
import type { Citation, Support } from '#platform/contracts';
import { byNumber } from './citation-numbers.js';
import { inferJsonCitations, inferPassage, isRefusal, type Inferred } from './inferred-citations.js';
import type { MarkerWriter } from './marker-writer.js';
import type { Span } from './sentence-spans.js';
import { Statements } from './statements.js';

/** A citation, and the marker that it came from. */
interface Found extends Citation {
  readonly key: string;
}

/** Resolves the markers of an answer to the sentences of the passages. */
export class CitedText {
  /** Citations that were passed on: number n is the n-th one. */
  readonly #sent = new Set<string>();
  #cited = 0;
  /** Numbers in use when citations were looked for last. */
  #seen = 0;
  #support: Support | undefined;

  constructor(
    private readonly writer: MarkerWriter,
    private readonly refusals: readonly string[],
  ) {}

  /** How well the passages support the whole answer. Set by {@link rest}. */
  get support(): Support | undefined {
    return this.#support;
  }

  /** The first citations of the next numbers, as far as each number before them has one. */
  next(): Citation[] {
    const { markers, used, namesPassage } = this.writer;
    if (this.#seen === used.size || markers.length === 0) return [];
    this.#seen = used.size;
    const statements = new Statements(this.writer.answer, markers);
    const list = statements.sourceList(namesPassage, true);
    const isSure = (index: number) => markers[index]!.start < list && !statements.mayLead(index);
    const found = byNumber(this.#inline(statements, isSure));
    const next: Found[] = [];
    for (const citation of found) {
      if (citation.passage !== this.#cited + 1 || this.#sent.has(citation.key)) continue;
      this.#cited += 1;
      next.push(citation);
    }
    return this.#pass(next);
  }

  /** The citations of the whole answer that were not passed on. */
  rest(): Citation[] {
    const { form } = this.writer;
    const found = form === 'text' ? this.#ofText() : form === 'json' ? this.#ofJson() : [];
    return this.#pass(byNumber(found).filter(({ key }) => !this.#sent.has(key)));
  }

  #pass(found: readonly Found[]): Citation[] {
    for (const { key } of found) this.#sent.add(key);
    return found.map(({ key: _key, ...citation }) => citation);
  }

  #ofText(): Found[] {
    const { writer } = this;
    const { answer, markers } = writer;
    const statements = new Statements(answer, markers);
    const list = statements.sourceList(writer.namesPassage);
    const all = statements.all(list);
    const inline = this.#inline(statements, (index) => markers[index]!.start < list);
    const known = new Set(inline.map(({ passage }) => passage));
    const marked = markers.filter(({ start }) => start >= list).flatMap(({ numbers }) => numbers);
    const named = answer
      .slice(list)
      .split('\n')
      .flatMap((line) => writer.useNamed(line));
    const listed = [...marked, ...named];
    const found = [
      ...inline,
      ...this.#listed(
        listed.filter((number) => !known.has(number)),
        all,
      ),
    ];
    const refuses = isRefusal(answer, this.refusals);
    if (found.length === 0 && !refuses) found.push(...this.#inferred(all));
    if (refuses && found.length === 0) this.#support = this.#supportOf([], found);
    else this.#support = this.#supportOf(all, found);
    return found;
  }

  /** The citations of the markers in the text. */
  #inline(statements: Statements, isUsed: (index: number) => boolean): Found[] {
    return statements.markers.flatMap(({ numbers }, index) => {
      const span = isUsed(index) ? statements.of(index) : undefined;
      return span ? numbers.flatMap((number) => this.#citation(span, number, `${index}:${number}`)) : [];
    });
  }

  /** The citations of numbers that only the list of sources has: of the statement with most words of the passage. */
  #listed(numbers: readonly number[], statements: readonly Span[]): Found[] {
    const [first] = statements;
    if (!first) return [];
    return [...new Set(numbers)].flatMap((number) => {
      const words = this.writer.used.get(number)!;
      const shareOf = (span: Span) => words.share(stemSet(this.#textOf(span)));
      const best = statements.reduce((kept, one) => (shareOf(one) > shareOf(kept) ? one : kept));
      const span = shareOf(best) > 0 ? best : { start: first.start, end: statements.at(-1)!.end };
      return this.#citation(span, number, `list:${number}`);
    });
  }

  /** The passages of an answer without markers, by the words of its statements. */
  #inferred(statements: readonly Span[]): Found[] {
    return statements.flatMap((span, index) => {
      const passage = inferPassage(this.#textOf(span), this.writer.words);
      if (!passage) return [];
      const number = this.writer.use(passage);
      return this.#citation(span, number, `inferred:${index}`).map((found) => ({ ...found, inferred: true }));
    });
  }

  #ofJson(): Found[] {
    const { removed, words, answer } = this.writer;
    const marked = removed.flatMap(({ numbers, ...span }, index) =>
      numbers.flatMap((number) => this.#citation(span, number, `${index}:${number}`)),
    );
    const inferred = marked.length > 0 ? [] : inferJsonCitations(answer, words);
    const found = inferred.flatMap(({ passage, ...span }: Inferred, index) =>
      this.#citation(span, this.writer.use(passage), `inferred:${index}`).map((one) => ({
        ...one,
        inferred: true,
      })),
    );
    this.#support = this.#supportOf([], []);
    return [...marked, ...found];
  }

  #citation(span: Span, number: number, key: string): Found[] {
    const quote = this.writer.used.get(number)?.nearest(this.#textOf(span));
    if (!quote) return [];
    return [{ startIndex: span.start, endIndex: span.end, passage: number, ...quote, key }];
  }

  #textOf({ start, end }: Span): string {
    return this.writer.answer.slice(start, end);
  }

  #supportOf(statements: readonly Span[], found: readonly Found[]): Support | undefined {
    const isCited = ({ start, end }: Span) =>
      found.some(({ startIndex, endIndex }) => startIndex < end && endIndex > start);
    return {
      statements: statements.length,
      cited: statements.filter(isCited).length,
      unknown: [...this.writer.unknown],
    };
  }
}
