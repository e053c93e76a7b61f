import { sourceOf, type TexToken } from './tex-tokens.js';

/** A place within tokens. What a macro makes is read before the rest. */
export class TexCursor {
  readonly #frames: { tokens: readonly TexToken[]; at: number }[] = [];

  constructor(tokens: readonly TexToken[]) {
    this.insert(tokens);
  }

  /** Puts tokens at the place. */
  insert(tokens: readonly TexToken[]): void {
    this.peek();
    this.#frames.push({ tokens, at: 0 });
  }

  peek(): TexToken | undefined {
    for (let frame = this.#frames.at(-1); frame; frame = this.#frames.at(-1)) {
      if (frame.at < frame.tokens.length) return frame.tokens[frame.at];
      this.#frames.pop();
    }
    return undefined;
  }

  next(): TexToken | undefined {
    const token = this.peek();
    if (token) this.#frames.at(-1)!.at += 1;
    return token;
  }

  /** The tokens of the next argument: a group, or one token. */
  argument(): TexToken[] {
    this.#skipBlanks();
    const token = this.next();
    if (!token) return [];
    if (token.kind === 'text' && token.text.length > 1) {
      // One character is the argument; the rest stays.
      this.#putBack(token.text.slice(1));
      return [{ kind: 'text', text: token.text[0]! }];
    }
    return token.kind === 'open' ? this.#group() : [token];
  }

  /** The tokens of an argument in square brackets; undefined if there is none. */
  optional(): TexToken[] | undefined {
    const first = this.peek();
    if (first?.kind !== 'text' || !/^\s*\[/.test(first.text)) return undefined;
    this.next();
    this.#putBack(first.text.replace(/^\s*\[/, ''));
    const found: TexToken[] = [];
    let depth = 0;
    for (let token = this.next(); token && token.kind !== 'paragraph'; token = this.next()) {
      if (token.kind === 'open') depth += 1;
      if (token.kind === 'close') depth -= 1;
      const close = depth === 0 && token.kind === 'text' ? token.text.indexOf(']') : -1;
      if (close === -1) {
        found.push(token);
        continue;
      }
      found.push({ kind: 'text', text: token.text.slice(0, close) });
      this.#putBack(token.text.slice(close + 1));
      break;
    }
    return found;
  }

  /** The tokens up to the one that ends them, or all if there is none. */
  until(isEnd: (token: TexToken) => boolean): TexToken[] {
    const found: TexToken[] = [];
    for (let token = this.next(); token && !isEnd(token); token = this.next()) found.push(token);
    return found;
  }

  /** The tokens up to the end of an environment, with those of the same name in it. */
  environment(name: string): TexToken[] {
    const found: TexToken[] = [];
    let depth = 1;
    for (let token = this.next(); token; token = this.next()) {
      const isBorder = token.kind === 'command' && (token.text === 'begin' || token.text === 'end');
      const own = isBorder ? this.argument() : [];
      if (isBorder && sourceOf(own) === name) depth += token.text === 'begin' ? 1 : -1;
      if (depth === 0) break;
      found.push(token);
      if (isBorder) found.push({ kind: 'open', text: '{' }, ...own, { kind: 'close', text: '}' });
    }
    return found;
  }

  /** The tokens up to the end of an open group. */
  #group(): TexToken[] {
    let depth = 1;
    return this.until(({ kind }) => {
      if (kind === 'open') depth += 1;
      else if (kind === 'close') depth -= 1;
      return depth === 0;
    });
  }

  #putBack(text: string): void {
    if (text !== '') this.insert([{ kind: 'text', text }]);
  }

  #skipBlanks(): void {
    for (let token = this.peek(); token?.kind === 'text' && /^\s/.test(token.text); token = this.peek()) {
      this.next();
      this.#putBack(token.text.trimStart());
    }
  }
}
