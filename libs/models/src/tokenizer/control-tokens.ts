/** A noncharacter of Unicode, which no text that is exchanged contains. */
const cut = '\uFDD0';

/** Names in the form of control tokens that some vocabularies do not declare special. */
const looksLikeControl = /^<[|｜].*[|｜]>$|^<(?:start|end)_of_turn>$/;

/** A token of tokenizer.json beside the vocabulary. */
export interface AddedToken {
  readonly content: string;
  readonly special: boolean;
}

/**
 * The control tokens of a vocabulary, such as `<|im_end|>`. In a text that somebody wrote their names are ordinary
 * letters: such a text must not be able to end its turn and begin another one.
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
    // The look ahead spares most positions of a text the comparison with hundreds of names.
    const source = `(?=${starts.map(escape).join('|')})(?:${longestFirst.map(escape).join('|')})`;
    this.pattern = new RegExp(source, 'gu');
  }

  /** The value with a cut inside each name of a control token, in all texts of it. */
  mark<Value>(value: Value): Value {
    return this.marked(value) as Value;
  }

  /** The pieces of a marked text. None of them holds a name, but those that were written without {@link mark}. */
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
    // What is left of a name may be a name itself.
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
  return text.replaceAll(/[$()*+.?[\\\]^{|}/-]/g, String.raw`\$&`);
}
