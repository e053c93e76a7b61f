import { AST, RegExpParser } from '@eslint-community/regexpp';
import {
  anyCharacter,
  bothCases,
  characterSet,
  charactersMatching,
  charactersOf,
  complement,
  subtract,
  union,
  type CharacterSet,
} from './character-set.js';
import {
  assertReadable,
  ConstraintError,
  characters,
  choice,
  repeat,
  sequence,
  text,
  type GrammarNode,
} from '../grammar.js';
import { translateDialect } from './regex-dialect.js';

const parser = new RegExpParser({ ecmaVersion: 2025 });
const lineEnds = charactersOf('\n\r\u2028\u2029');
/** Maximum bound of a repetition. */
const maxRepetitions = 20_000;

/** Options of an expression that is part of a larger text: without anchors; `.` matches all but line ends. */
export interface TerminalOptions {
  readonly ignoreCase: boolean;
  /** `.` also matches line ends. */
  readonly dotAll: boolean;
}

/**
 * Returns the grammar of the texts that a regular expression of JavaScript, Rust or Python matches. With `search` the
 * expression may match anywhere in the text, like `pattern` of JSON Schema; otherwise it must match the whole text.
 * Throws ConstraintError for features that a grammar cannot express: lookaround, back references, inner anchors.
 */
export function regexGrammar(
  pattern: string,
  options: { search?: boolean; terminal?: TerminalOptions } = {},
): GrammarNode {
  assertReadable(pattern);
  const { terminal } = options;
  const alternatives = unwrapGroup(parse(translateDialect(pattern)).alternatives);
  const anything = repeat(characters(anyCharacter), 0);
  return choice(
    ...alternatives.map(({ elements }) => {
      if (terminal) return sequenceGrammar(elements, { terminal });
      const starts = isAssertion(elements[0], 'start');
      const ends = isAssertion(elements.at(-1), 'end');
      if (!options.search) return sequenceGrammar(elements, { atStart: true, atEnd: true });
      const body = sequenceGrammar(elements, { atStart: starts, atEnd: ends });
      return sequence(...(starts ? [] : [anything]), body, ...(ends ? [] : [anything]));
    }),
  );
}

/** Position of a part of an expression: anchors at the edges of the whole text have no effect. */
interface Place {
  readonly atStart?: boolean;
  readonly atEnd?: boolean;
  readonly terminal?: TerminalOptions;
}

const isEdge = (element: AST.Element) => element.type === 'Assertion';

function sequenceGrammar(elements: readonly AST.Element[], place: Place): GrammarNode {
  const firstInner = elements.findIndex((element) => !isEdge(element));
  const lastInner = elements.findLastIndex((element) => !isEdge(element));
  const nodes = elements.map((element, index) =>
    elementGrammar(element, {
      terminal: place.terminal,
      atStart: place.atStart === true && (firstInner < 0 || index <= firstInner),
      atEnd: place.atEnd === true && index >= lastInner,
    }),
  );
  return sequence(...nodes);
}

/** Parses with the flag `u`, as JSON Schema requires; without it if the expression is only valid so (`\-`). */
function parse(pattern: string): AST.Pattern {
  try {
    return parser.parsePattern(pattern, undefined, undefined, { unicode: true });
  } catch {
    try {
      return parser.parsePattern(pattern);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ConstraintError(`${reason}.`);
    }
  }
}

/** Unwraps a group around the whole expression: `(^a|b$)` has the same anchors as `^a|b$`. */
function unwrapGroup(alternatives: AST.Alternative[]): AST.Alternative[] {
  const [only] = alternatives;
  const [element] = only?.elements ?? [];
  if (alternatives.length !== 1 || only!.elements.length !== 1) return alternatives;
  const isGroup = element!.type === 'CapturingGroup' || (element!.type === 'Group' && !element!.modifiers);
  return isGroup ? unwrapGroup((element as AST.Group).alternatives) : alternatives;
}

function isAssertion(element: AST.Element | undefined, kind: 'start' | 'end'): boolean {
  return element?.type === 'Assertion' && element.kind === kind;
}

function elementGrammar(element: AST.Element, place: Place): GrammarNode {
  const { terminal } = place;
  switch (element.type) {
    case 'Character': {
      const letter = String.fromCodePoint(checkScalar(element.value));
      return terminal?.ignoreCase ? characters(inBothCases(charactersOf(letter), element.raw)) : text(letter);
    }
    case 'CharacterSet':
    case 'CharacterClass':
      return characters(classSet(element, terminal));
    case 'CapturingGroup':
      return groupGrammar(element.alternatives, place);
    case 'Group':
      if (element.modifiers) throw new ConstraintError(`${element.raw}: modifiers are not supported.`);
      return groupGrammar(element.alternatives, place);
    case 'Quantifier':
      return quantifierGrammar(element, place);
    case 'Assertion':
      if (isAssertion(element, 'start') && place.atStart) return text('');
      if (isAssertion(element, 'end') && place.atEnd) return text('');
      throw new ConstraintError(assertionReason(element, terminal));
    default:
      throw new ConstraintError(`${element.raw} is not supported.`);
  }
}

function assertionReason({ kind, raw }: AST.Assertion, terminal: TerminalOptions | undefined): string {
  if (kind !== 'start' && kind !== 'end') return `${raw}: looking around is not supported.`;
  if (terminal) return `${raw}: anchors are not supported in a terminal.`;
  return `${raw} is supported at the start and the end of the expression only.`;
}

function inBothCases(set: CharacterSet, raw: string): CharacterSet {
  const both = bothCases(set);
  if (!both) throw new ConstraintError(`${raw}: has too many characters for the flag i.`);
  return both;
}

function checkScalar(code: number): number {
  if (code >= 0xd800 && code <= 0xdfff)
    throw new ConstraintError('Half of a surrogate pair is not a character.');
  return code;
}

function groupGrammar(alternatives: AST.Alternative[], place: Place): GrammarNode {
  return choice(...alternatives.map(({ elements }) => sequenceGrammar(elements, place)));
}

function quantifierGrammar({ element, min, max, raw }: AST.Quantifier, place: Place): GrammarNode {
  const largest = Number.isFinite(max) ? max : min;
  if (largest > maxRepetitions) {
    throw new ConstraintError(`${raw}: at most ${maxRepetitions} repetitions are supported.`);
  }
  // Only one round of a repetition is at an edge of the text.
  const inner = max === 1 ? place : { terminal: place.terminal };
  return repeat(elementGrammar(element, inner), min, max);
}

type ClassPart = AST.CharacterSet | AST.CharacterClass | AST.CharacterClassElement;

function classSet(part: ClassPart, terminal?: TerminalOptions): CharacterSet {
  switch (part.type) {
    case 'Character':
      return characterSet([part.value, part.value]);
    case 'CharacterClassRange':
      return characterSet([part.min.value, part.max.value]);
    case 'CharacterClass': {
      const given = union(...part.elements.map((element) => classSet(element, terminal)));
      const set = terminal?.ignoreCase ? inBothCases(given, part.raw) : given;
      return part.negate ? complement(set) : set;
    }
    case 'CharacterSet':
      return escapeSet(part, terminal);
    default:
      throw new ConstraintError(`${part.raw} is not supported.`);
  }
}

function escapeSet(set: AST.CharacterSet, terminal?: TerminalOptions): CharacterSet {
  if (set.kind === 'any') {
    if (!terminal) return subtract(anyCharacter, lineEnds);
    return terminal.dotAll ? anyCharacter : subtract(anyCharacter, charactersOf('\n'));
  }
  if (set.kind === 'property') return charactersMatching(set.raw);
  const letter = { digit: 'd', space: 's', word: 'w' }[set.kind];
  return charactersMatching(`\\${set.negate ? letter.toUpperCase() : letter}`);
}
