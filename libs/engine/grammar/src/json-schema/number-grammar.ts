import { characterSet } from '../regex/character-set.js';
import { characters, choice, repeat, sequence, text, type GrammarNode, ConstraintError } from '../grammar.js';
import { digit } from './json-grammar.js';
import type { Path, SchemaNode } from './schema-node.js';

/** Decimal digits that a double represents exactly, so that the order of texts is the order of numbers. */
const exactDigits = 15;
const maxFractionDigits = 6;

interface Decimal {
  /** Value × 10^scale. */
  readonly units: bigint;
  readonly scale: number;
}

/** A JSON number within the schema's bounds. Throws ConstraintError for unsupported bounds and multiples. */
export function numberGrammar(schema: SchemaNode, integer: boolean, path: Path): GrammarNode {
  const bounds = readBounds(schema, path);
  if (!bounds.min && !bounds.max && schema.multipleOf === undefined) {
    return integer ? anyInteger : { kind: 'rule', name: 'json_number' };
  }
  const step =
    schema.multipleOf === undefined ? undefined : stepOf(schema.multipleOf, [...path, 'multipleOf']);
  const widest = Math.max(...[bounds.min, bounds.max].map((bound) => (bound ? integerDigits(bound) : 1)));
  const least = Math.max(0, bounds.min?.scale ?? 0, bounds.max?.scale ?? 0);
  if (integer || step?.power === 0) return scaled(bounds, 0, step, path);
  const digits = step ? step.power : Math.min(maxFractionDigits, exactDigits - widest);
  if (!step && digits < least) {
    throw new ConstraintError(`A bound has more than ${exactDigits} digits.`, path);
  }
  return choice(...Array.from({ length: digits + 1 }, (_unused, scale) => scaled(bounds, scale, step, path)));
}

const anyInteger = sequence(
  repeat(text('-'), 0, 1),
  choice(text('0'), sequence(characters(characterSet([0x31, 0x39])), repeat(digit, 0, exactDigits - 1))),
);

interface Bound extends Decimal {
  readonly exclusive: boolean;
}

interface Bounds {
  readonly min?: Bound;
  readonly max?: Bound;
}

/**
 * The bounds that exclude numbers of at most 15 digits; the grammar writes no others. Clients describe an integer with
 * the bounds ±(2^53 − 1), which exclude none.
 */
function readBounds(schema: SchemaNode, path: Path): Bounds {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = schema;
  const min = above !== undefined && above >= (minimum ?? -Infinity) ? above : minimum;
  const max = below !== undefined && below <= (maximum ?? Infinity) ? below : maximum;
  const limit = 10 ** exactDigits;
  return {
    ...(min !== undefined && min > -limit && { min: { ...decimal(min, path), exclusive: min === above } }),
    ...(max !== undefined && max < limit && { max: { ...decimal(max, path), exclusive: max === below } }),
  };
}

function decimal(value: number, path: Path): Decimal {
  if (Math.abs(value) >= 10 ** exactDigits) {
    throw new ConstraintError(`The bound ${value} is beyond ±10^${exactDigits}.`, path);
  }
  const [whole, fraction = ''] = plainDigits(value).split('.', 2);
  return { units: BigInt(`${whole}${fraction}`), scale: fraction.length };
}

/** The shortest decimal of a double, without an exponent. */
function plainDigits(value: number): string {
  const written = String(value);
  if (!written.includes('e')) return written;
  const [mantissa, exponent] = written.split('e', 2);
  const fractionDigits = (mantissa!.split('.', 2)[1]?.length ?? 0) - Number(exponent);
  return value.toFixed(Math.min(100, Math.max(0, fractionDigits)));
}

function integerDigits({ units, scale }: Decimal): number {
  return String(units < 0n ? -units : units).length - scale;
}

interface Step {
  readonly factor: bigint;
  /** Fraction digits of the step, which is factor × 10^−power. */
  readonly power: number;
}

function stepOf(multipleOf: number, path: Path): Step {
  const { units, scale } = decimal(multipleOf, path);
  if (scale > maxFractionDigits) throw new ConstraintError('Its fraction has too many digits.', path);
  return { factor: units, power: scale };
}

/** Maximum number of multiples that are listed one by one. */
const maxListed = 1000n;

/** The numbers with exactly `scale` digits after the decimal point. */
function scaled(bounds: Bounds, scale: number, step: Step | undefined, path: Path): GrammarNode {
  const limit = 10n ** BigInt(exactDigits) - 1n;
  const low = bounds.min ? lowest(bounds.min, scale) : -limit;
  const high = bounds.max ? highest(bounds.max, scale) : limit;
  if (!step) return signedRange(low, high, scale);
  // value = units / 10^scale has to be a multiple of factor / 10^power, with scale <= power.
  const factor = step.factor;
  const stretch = 10n ** BigInt(Math.max(0, step.power - scale));
  const period = factor / gcd(factor, stretch);
  if (period === 1n) return signedRange(low, high, scale);
  const tens = trailingZeros(period);
  if (period === 10n ** BigInt(tens) && scale === 0) return powersOfTen(low, high, tens);
  const first = ceilDivide(low, period);
  const last = floorDivide(high, period);
  if (last - first >= maxListed) {
    if (scale === 0 && !bounds.min && !bounds.max && period <= 64n) return multiples(Number(period));
    throw new ConstraintError(
      `A multiple of this size needs bounds with at most ${maxListed} multiples between them.`,
      [...path, 'multipleOf'],
    );
  }
  const values: GrammarNode[] = [];
  for (let count = first; count <= last; count++) values.push(text(writeUnits(count * period, scale)));
  return choice(...values);
}

function lowest({ units, scale: from, exclusive }: Bound, scale: number): bigint {
  const up = units * 10n ** BigInt(scale);
  const divisor = 10n ** BigInt(from);
  const least = ceilDivide(up, divisor);
  return exclusive && least * divisor === up ? least + 1n : least;
}

function highest({ units, scale: from, exclusive }: Bound, scale: number): bigint {
  const up = units * 10n ** BigInt(scale);
  const divisor = 10n ** BigInt(from);
  const most = floorDivide(up, divisor);
  return exclusive && most * divisor === up ? most - 1n : most;
}

function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b !== 0n && a < 0n ? quotient - 1n : quotient;
}

function ceilDivide(a: bigint, b: bigint): bigint {
  return -floorDivide(-a, b);
}

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b);
}

function trailingZeros(value: bigint): number {
  return /0*$/.exec(String(value))![0].length;
}

/** Multiples of 10^zeros: a number followed by `zeros` zeros, or 0. */
function powersOfTen(low: bigint, high: bigint, zeros: number): GrammarNode {
  const step = 10n ** BigInt(zeros);
  const from = ceilDivide(low, step);
  const to = floorDivide(high, step);
  const tail = text('0'.repeat(zeros));
  return choice(
    ...(from < 0n ? [sequence(signedRange(from, to < -1n ? to : -1n, 0), tail)] : []),
    ...(from <= 0n && to >= 0n ? [text('0')] : []),
    ...(to > 0n ? [sequence(signedRange(from > 1n ? from : 1n, to, 0), tail)] : []),
  );
}

/** Multiples of a small number for a schema without bounds: at most four digits, of either sign. */
function multiples(period: number): GrammarNode {
  const listed = Array.from({ length: Math.floor(9999 / period) + 1 }, (_unused, count) => count * period);
  return sequence(repeat(text('-'), 0, 1), choice(...listed.map((value) => text(String(value)))));
}

function writeUnits(units: bigint, scale: number): string {
  const padded = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const point = padded.length - scale;
  const written = scale > 0 ? `${padded.slice(0, point)}.${padded.slice(point)}` : padded;
  return units < 0n ? `-${written}` : written;
}

function signedRange(low: bigint, high: bigint, scale: number): GrammarNode {
  if (low > high) return choice();
  if (high < 0n) return sequence(text('-'), range(-high, -low, scale));
  if (low >= 0n) return range(low, high, scale);
  return choice(range(0n, high, scale), sequence(text('-'), range(1n, -low, scale)));
}

/** Non-negative numbers from `low` to `high`, with a decimal point before the last `scale` digits. */
function range(low: bigint, high: bigint, scale: number): GrammarNode {
  const options: GrammarNode[] = [];
  const shortest = String(low).padStart(scale + 1, '0').length;
  const longest = String(high).padStart(scale + 1, '0').length;
  for (let length = shortest; length <= longest; length++) {
    const least = length === shortest ? low : 10n ** BigInt(length - 1);
    const most = length === longest ? high : 10n ** BigInt(length) - 1n;
    options.push(sameLength(String(least).padStart(length, '0'), String(most).padStart(length, '0'), scale));
  }
  return choice(...options);
}

/** Digit texts from `low` to `high`, all of the same length. */
function sameLength(low: string, high: string, scale: number): GrammarNode {
  if (low === '') return text('');
  const point = scale > 0 && low.length === scale ? [text('.')] : [];
  if (/^0*$/.test(low) && /^9*$/.test(high)) return sequence(...point, anyDigits(low.length, scale));
  const [first, last] = [Number(low[0]), Number(high[0])];
  const [lowRest, highRest] = [low.slice(1), high.slice(1)];
  if (first === last) return sequence(...point, text(low[0]!), sameLength(lowRest, highRest, scale));
  const options = [sequence(text(low[0]!), sameLength(lowRest, '9'.repeat(lowRest.length), scale))];
  if (last - first > 1) {
    const between = characters(characterSet([0x30 + first + 1, 0x30 + last - 1]));
    options.push(
      sequence(between, sameLength('0'.repeat(lowRest.length), '9'.repeat(lowRest.length), scale)),
    );
  }
  options.push(sequence(text(high[0]!), sameLength('0'.repeat(highRest.length), highRest, scale)));
  return sequence(...point, choice(...options));
}

/** `count` digits, with the decimal point before the last `scale` digits unless it would be first. */
function anyDigits(count: number, scale: number): GrammarNode {
  if (scale === 0 || count <= scale) return repeat(digit, count, count);
  return sequence(repeat(digit, count - scale, count - scale), text('.'), repeat(digit, scale, scale));
}
