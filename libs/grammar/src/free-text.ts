import { anyCharacter, charactersOf, subtract, union } from './regex/character-set.js';
import { characters, choice, rule, sequence, text, type GrammarNode } from './grammar.js';

/** Name of the rule for free text behind the beginning of a trigger. */
export function freeRule(begun: string): string {
  return `free_${Array.from(begun, (letter) => letter.codePointAt(0)!.toString(16)).join('_')}`;
}

/**
 * Rules of a text that holds none of the triggers but where `open` says what follows them. Each rule knows which beginning of a
 * trigger the text ends with, so that no trigger passes unnoticed. No trigger begins with another one.
 */
export function freeText(
  triggers: readonly string[],
  open: (trigger: string) => GrammarNode,
): Map<string, GrammarNode> {
  const begins = new Set([''].concat(triggers.flatMap(beginningsOf)));
  const letters = [...new Set(triggers.flatMap((trigger) => Array.from(trigger)))];
  const others = subtract(anyCharacter, union(...letters.map(charactersOf)));
  const rules = new Map<string, GrammarNode>();
  for (const begun of begins) {
    const options = letters.map((letter) => {
      const now = begun + letter;
      const trigger = triggers.find((one) => now.endsWith(one));
      return sequence(
        characters(charactersOf(letter)),
        trigger === undefined ? rule(freeRule(longestEnd(now, begins))) : open(trigger),
      );
    });
    const rest = sequence(characters(others), rule(freeRule('')));
    rules.set(freeRule(begun), choice(text(''), ...options, rest));
  }
  return rules;
}

/** All beginnings of a text but the text itself. */
function beginningsOf(given: string): string[] {
  const letters = Array.from(given);
  return letters.slice(0, -1).map((_letter, index) => letters.slice(0, index + 1).join(''));
}

/** The longest beginning that the text ends with. */
function longestEnd(given: string, begins: ReadonlySet<string>): string {
  const letters = Array.from(given);
  for (let index = 0; index < letters.length; index++) {
    const end = letters.slice(index).join('');
    if (begins.has(end)) return end;
  }
  return '';
}
