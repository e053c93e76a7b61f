import type { TexCursor } from './tex-cursor.js';
import { sourceOf, type TexToken } from './tex-tokens.js';

/** Limits for the macros of a text: their calls, and the tokens that they make. */
const maxCalls = 20_000;
const maxMadeTokens = 2_000_000;

interface Macro {
  count: number;
  /** Value of the first argument if it may be left out. */
  preset?: TexToken[];
  body: TexToken[];
}

/** Commands that a text defines. */
export class TexMacros {
  readonly #macros = new Map<string, Macro>();
  #calls = 0;
  #made = 0;

  /** `\\newcommand{\\name}[2][preset]{body}` */
  define(cursor: TexCursor): void {
    const name = cursor.argument().find(({ kind }) => kind === 'command')?.text;
    const count = Number(sourceOf(cursor.optional() ?? [])) || 0;
    const preset = cursor.optional();
    const body = cursor.argument();
    if (name !== undefined && count <= 9) this.#macros.set(name, { count, body, ...(preset && { preset }) });
  }

  /** `\def\name#1{…}` */
  defineBare(cursor: TexCursor): void {
    const name = cursor.next()?.text;
    let pattern = '';
    for (let token = cursor.peek(); token && token.kind !== 'open'; token = cursor.peek())
      pattern += cursor.next()!.text;
    const body = cursor.argument();
    if (name !== undefined && /^(?:#\d)*$/.test(pattern))
      this.#macros.set(name, { count: pattern.length / 2, body });
  }

  /**
   * Puts the body of a macro in the place of its call. Returns false for an unknown macro. Errors: a text whose macros call more
   * than the limits allow.
   */
  call(name: string, cursor: TexCursor): boolean {
    const macro = this.#macros.get(name);
    if (!macro) return false;
    const { count, preset, body } = macro;
    const values = preset ? [cursor.optional() ?? preset] : [];
    while (values.length < count) values.push(cursor.argument());
    const made = body.flatMap((token) => {
      if (token.kind !== 'text' || !/#\d/.test(token.text)) return [token];
      return token.text.split(/(#\d)/).flatMap((part) => {
        const number = /^#(\d)$/.exec(part)?.[1];
        return number === undefined
          ? [{ kind: 'text' as const, text: part }]
          : (values[Number(number) - 1] ?? []);
      });
    });
    this.#calls += 1;
    this.#made += made.length;
    if (this.#calls > maxCalls || this.#made > maxMadeTokens)
      throw new Error('its commands call each other without an end');
    cursor.insert(made);
    return true;
  }
}
