/** A noncharacter of Unicode, which does not occur in interchanged text. */
const cut = '\uFDD0';

/** Form of the names of control tokens; some vocabularies do not declare them as special. */
const looksLikeControl = /^<[|｜].*[|｜]>$|^<(?:start|end)_of_turn>$/;

/** An added token of tokenizer.json. */
export interface AddedToken {
  readonly content: string;
  readonly special: boolean;
}

/**
 * The control tokens of a vocabulary, such as `<|im_end|>`. Their names in a caller's text are ordinary text, so that
 * the text cannot end its turn and begin another one.
 */
export class ControlTokens {
  private readonly pattern: RegExp | undefined;

  constructor(added: readonly AddedToken[]) {
    const names = added
      .filter(({ content, special }) => content.length > 1 && (special || looksLikeControl.test(content)))
      .map(({ content }) => content);
    if (names.length === 0) return;
    const longestFirst = names.toSorted((one, other) => other.length - one.length);
    const starts = [...new Set(names.map((name) => String.fromCodePoint(name.codePointAt(0)!)))];
    // The lookahead avoids the comparison with hundreds of names at most positions of a text.
    const source = `(?=${starts.map(escape).join('|')})(?:${longestFirst.map(escape).join('|')})`;
    this.pattern = new RegExp(source, 'gu');
  }

  /** Returns a copy of the value with a cut inside each name of a control token in its texts. */
  mark<Value>(value: Value): Value {
    return this.marked(value) as Value;
  }

  /** Splits a marked text at its cuts. Only control tokens that were added after {@link mark} remain whole. */
  pieces(text: string): string[] {
    return text.split(cut);
  }

  private marked(value: unknown): unknown {
    if (typeof value === 'string') return this.markedText(value);
    if (Array.isArray(value)) return value.map((item) => this.marked(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [this.markedText(key), this.marked(item)]),
    );
  }

  private markedText(given: string): string {
    let text = given.includes(cut) ? given.replaceAll(cut, '') : given;
    if (!this.pattern) return text;
    // The rest of a name may be a name itself.
    for (let before = ''; before !== text;) {
      before = text;
      text = text.replace(this.pattern, (name) => {
        const [first = ''] = name;
        return `${first}${cut}${name.slice(first.length)}`;
      });
    }
    return text;
  }
}

function escape(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}/]/g, String.raw`\$&`);
}
