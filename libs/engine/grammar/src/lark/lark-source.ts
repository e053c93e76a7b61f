import { ConstraintError } from '../grammar.js';

/** A node of the right side of a definition. */
export type LarkNode =
  | { readonly kind: 'text'; readonly text: string; readonly ignoreCase: boolean }
  | { readonly kind: 'regex'; readonly pattern: string; readonly flags: string; readonly at: number }
  | { readonly kind: 'range'; readonly first: number; readonly last: number }
  | { readonly kind: 'name'; readonly name: string; readonly at: number }
  | { readonly kind: 'sequence'; readonly parts: readonly LarkNode[] }
  | { readonly kind: 'choice'; readonly options: readonly LarkNode[] }
  | { readonly kind: 'repeat'; readonly item: LarkNode; readonly min: number; readonly max: number };

/** A parsed Lark source: names in capitals are terminals, other names are rules. */
export interface LarkSource {
  readonly definitions: ReadonlyMap<string, LarkNode>;
  /** Nodes of `%ignore`, which may occur between two terminals. */
  readonly ignored: readonly LarkNode[];
  /** Terminals of Lark's library, by their names in this source. */
  readonly imports: ReadonlyMap<string, { readonly name: string; readonly at: number }>;
}

const maxNesting = 50;
const maxRepetitions = 20_000;
/** White space and comments, then `|`. A comment always ends with its line, so that matching does not backtrack. */
const nextOption = /(?:[ \t\r\n]|(?:\/\/|#)[^\n]*(?=\n|$))*\|/y;

/** Parses Lark. Throws ConstraintError that names the unsupported feature and its line. */
export function parseLark(source: string): LarkSource {
  return new LarkParser(source).parse();
}

/** Creates an error with the line of a position in the source. */
export function larkError(source: string, at: number, reason: string): ConstraintError {
  return new ConstraintError(`Line ${source.slice(0, at).split('\n').length}: ${reason}`);
}

/** Returns true for a name in capitals, also after leading underscores. */
export function isTerminal(name: string): boolean {
  return /^_*[A-Z]/.test(name);
}

class LarkParser {
  private at = 0;
  private depth = 0;
  private readonly definitions = new Map<string, LarkNode>();
  private readonly ignored: LarkNode[] = [];
  private readonly imports = new Map<string, { name: string; at: number }>();

  constructor(private readonly source: string) {}

  parse(): LarkSource {
    for (this.skipLines(); this.at < this.source.length; this.skipLines()) {
      if (this.peek('%')) this.parseDirective();
      else this.parseDefinition();
      this.skipSpaces();
      if (this.at < this.source.length && !this.peek('\n')) throw this.notUnderstood();
    }
    const { definitions, ignored, imports } = this;
    return { definitions, ignored, imports };
  }

  private parseDefinition(): void {
    const start = this.at;
    this.match(/[?!]*/y);
    const name = this.match(/[A-Za-z_]\w*/y);
    if (!name) throw this.notUnderstood();
    if (this.peek('{')) throw this.error(`templates, as ${name}{…}, are not supported`, start);
    if (this.peek('[')) throw this.error(`attributes, as ${name}[…], are not supported`, start);
    // The priority of a terminal has no effect on the set of texts.
    this.match(/\.-?\d+/y);
    this.skipSpaces();
    if (!this.match(/:/y)) throw this.error(`a definition, as ${name}: …, is expected`, start);
    if (this.definitions.has(name) || this.imports.has(name))
      throw this.error(`${name} is defined twice`, start);
    this.definitions.set(name, this.parseChoice());
  }

  private parseDirective(): void {
    const start = this.at;
    const directive = this.match(/%\w*/y) ?? '%';
    this.skipSpaces();
    if (directive === '%ignore') this.ignored.push(this.parseChoice());
    else if (directive === '%import') this.parseImport(start);
    else throw this.error(`${directive} is not supported; these are: %import common.…, %ignore`, start);
  }

  /** `%import common.NAME`, `%import common.NAME -> OTHER`, `%import common (NAME, NAME)`. */
  private parseImport(start: number): void {
    const path = this.match(/\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*/y) ?? '';
    this.skipSpaces();
    const several = this.match(/\([^)]*\)/y);
    if (several !== undefined) {
      const names = several.slice(1, -1).split(',');
      for (const name of names) this.addImport(`${path}.${name.trim()}`, undefined, start);
      return;
    }
    const alias = this.match(/->[ \t]*[A-Za-z_]\w*/y)
      ?.slice(2)
      .trim();
    this.addImport(path, alias, start);
  }

  private addImport(path: string, alias: string | undefined, start: number): void {
    const name = /^common\.(\w+)$/.exec(path)?.[1];
    if (name === undefined) throw this.error(`%import ${path} is not supported: only of common`, start);
    const own = alias ?? name;
    if (this.definitions.has(own)) throw this.error(`${own} is defined twice`, start);
    this.imports.set(own, { name, at: start });
  }

  private parseChoice(): LarkNode {
    if (++this.depth > maxNesting) throw this.error('groups are nested too deep');
    const options = [this.parseAlternative()];
    while (this.match(nextOption)) options.push(this.parseAlternative());
    this.depth--;
    return options.length === 1 ? options[0]! : { kind: 'choice', options };
  }

  private parseAlternative(): LarkNode {
    const parts: LarkNode[] = [];
    for (this.skipSpaces(); ; this.skipSpaces()) {
      const item = this.parseItem();
      if (!item) break;
      parts.push(this.parseRepetition(item));
    }
    // An alias names a node of the syntax tree, which is not built here.
    this.match(/->[ \t]*[A-Za-z_]\w*/y);
    return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
  }

  /** Returns undefined at the end of the alternative. */
  private parseItem(): LarkNode | undefined {
    const start = this.at;
    if (this.peek('"')) return this.parseText();
    if (this.peek('/')) return this.parseRegex();
    if (this.match(/\(/y)) return this.parseGroup(')', start);
    if (this.match(/\[/y)) return { kind: 'repeat', item: this.parseGroup(']', start), min: 0, max: 1 };
    if (this.peek('<')) throw this.error('special tokens, as <…>, are not supported', start);
    if (this.peek('%')) throw this.error('a directive within a rule is not supported', start);
    if (this.peek('&')) throw this.error('& is not supported', start);
    const name = this.match(/!?[A-Za-z_]\w*/y)?.replace('!', '');
    if (name === undefined) return undefined;
    if (this.peek('{')) throw this.error(`templates, as ${name}{…}, are not supported`, start);
    return { kind: 'name', name, at: start };
  }

  private parseGroup(close: string, start: number): LarkNode {
    this.skipLines();
    const inner = this.parseChoice();
    this.skipLines();
    if (!this.peek(close)) throw this.error('a group is not closed', start);
    this.at += 1;
    return inner;
  }

  private parseRepetition(repeated: LarkNode): LarkNode {
    const start = this.at;
    let item = repeated;
    for (let sign = this.match(/[*+?]/y); sign; sign = this.match(/[*+?]/y)) {
      if (this.at - start > maxNesting) throw this.error('a repetition is nested too deep', start);
      const max = sign === '?' ? 1 : Number.POSITIVE_INFINITY;
      item = { kind: 'repeat', item, min: sign === '+' ? 1 : 0, max };
    }
    const count = this.match(/[ \t]*~[ \t]*\d+(?:[ \t]*\.\.[ \t]*\d+)?/y);
    if (count === undefined) return item;
    const [min = 0, max = min] = [...count.matchAll(/\d+/g)].map(Number);
    if (max < min || max > maxRepetitions)
      throw this.error(`a repetition goes up, to ${maxRepetitions} at most`, start);
    return { kind: 'repeat', item, min, max };
  }

  private parseText(): LarkNode {
    const start = this.at;
    const text = this.readText();
    if (!this.match(/[ \t]*\.\.[ \t]*(?=")/y))
      return { kind: 'text', text, ignoreCase: this.match(/i(?!\w)/y) !== undefined };
    const [first, last] = [text, this.readText()].map((end) => Array.from(end));
    if (first?.length !== 1 || last?.length !== 1 || last[0]! < first[0]!)
      throw this.error('a range goes from one character up to another', start);
    return { kind: 'range', first: first[0]!.codePointAt(0)!, last: last[0]!.codePointAt(0)! };
  }

  private readText(): string {
    const start = this.at;
    const written = this.match(/"(?:\\.|[^"\\\n])*"/y);
    if (written === undefined) throw this.error('a text does not end', start);
    return written
      .slice(1, -1)
      .replaceAll(
        /\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/g,
        (escape, short: string, code: string, long: string, letter: string) => {
          const digits = short ?? code ?? long;
          if (digits === undefined) return this.escaped(letter, escape, start);
          const point = Number.parseInt(digits, 16);
          if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
            throw this.error(`${escape} is not a character`, start);
          return String.fromCodePoint(point);
        },
      );
  }

  private escaped(letter: string, escape: string, start: number): string {
    const named = namedEscapes[letter];
    if (named !== undefined) return named;
    if (/\w/.test(letter)) throw this.error(`the escape ${escape} is not supported in a text`, start);
    return letter;
  }

  private parseRegex(): LarkNode {
    const start = this.at;
    const written = this.match(/\/(?:\\.|[^/\\\n])+\//y);
    if (written === undefined) throw this.error('an expression does not end', start);
    return { kind: 'regex', pattern: written.slice(1, -1), flags: this.match(/[a-z]*/y) ?? '', at: start };
  }

  /** Skips spaces and comments up to the end of the line. */
  private skipSpaces(): void {
    this.match(/(?:[ \t\r]|\/\/[^\n]*|#[^\n]*)*/y);
  }

  private skipLines(): void {
    this.match(/(?:\s|\/\/[^\n]*|#[^\n]*)*/y);
  }

  private peek(text: string): boolean {
    return this.source.startsWith(text, this.at);
  }

  private match(expression: RegExp): string | undefined {
    expression.lastIndex = this.at;
    const found = expression.exec(this.source)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }

  private notUnderstood(): ConstraintError {
    const [line = ''] = this.source.slice(this.at).split('\n', 1);
    return this.error(`${JSON.stringify(line.slice(0, 40))} is not understood`);
  }

  private error(reason: string, place = this.at): ConstraintError {
    return larkError(this.source, place, `${reason}.`);
  }
}

const namedEscapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v' };
