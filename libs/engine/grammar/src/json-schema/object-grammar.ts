import { anyCharacter, characterSet, complement, union, type CharacterSet } from '../regex/character-set.js';
import { ConstraintError, characters, choice, repeat, sequence, text, type GrammarNode } from '../grammar.js';
import { braces, colon, comma, escapeGrammar, jsonLiteral, listOf, quoted } from './json-grammar.js';
import type { Path, SchemaNode } from './schema-node.js';
import { patternGrammar } from './string-grammar.js';

export interface ObjectCompiler {
  schema(schema: unknown, path: Path): GrammarNode;
  /** Defines a rule for a node that occurs several times. */
  define(node: () => GrammarNode): GrammarNode;
}

/** Maximum number of rules for counting members: one for each property and count. */
const maxCountedStates = 2000;

interface Property {
  readonly member: GrammarNode;
  readonly required: boolean;
}

/**
 * A JSON object: the properties in the order of the schema, then members with other names. A schema with `properties`
 * and without `additionalProperties` does not allow other names.
 */
export function objectGrammar(schema: SchemaNode, path: Path, compiler: ObjectCompiler): GrammarNode {
  const properties = declaredProperties(schema, path, compiler);
  const other = otherMember(schema, path, compiler);
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = schema;
  checkCounts(schema, properties, other !== undefined, path);
  if (properties.length === 0) {
    return braces('{', other ? listOf(other, minProperties, maxProperties) : text(''), '}');
  }
  const members = new MemberList(properties, other, { min: minProperties, max: maxProperties }, compiler);
  return braces('{', members.from(0, 0), '}');
}

function declaredProperties(schema: SchemaNode, path: Path, compiler: ObjectCompiler): Property[] {
  const declared = new Map(Object.entries(schema.properties ?? {}));
  const required = new Set(schema.required);
  if (declared.size > 0 && schema.propertyNames !== undefined) {
    throw new ConstraintError('"propertyNames" with "properties" is not supported.', [
      ...path,
      'propertyNames',
    ]);
  }
  const undeclared = schema.additionalProperties ?? schema.patternProperties === undefined;
  for (const name of required) if (!declared.has(name)) declared.set(name, undeclared);
  return [...declared].map(([name, value]) => {
    refuseOverlap(name, schema, path);
    const content = compiler.schema(value, [...path, 'properties', name]);
    return { member: sequence(jsonLiteral(name), colon(), content), required: required.has(name) };
  });
}

function refuseOverlap(
  name: string,
  { patternProperties = {}, propertyNames }: SchemaNode,
  path: Path,
): void {
  if (propertyNames !== undefined) {
    throw new ConstraintError('"propertyNames" beside named properties is not supported.', [
      ...path,
      'propertyNames',
    ]);
  }
  for (const pattern of Object.keys(patternProperties)) {
    if (matches(pattern, name)) {
      throw new ConstraintError(`The property "${name}" also matches this pattern; leave one of them out.`, [
        ...path,
        'patternProperties',
        pattern,
      ]);
    }
  }
}

/** Returns false for an invalid pattern, which is refused when it is compiled. */
function matches(pattern: string, name: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(name);
  } catch {
    return false;
  }
}

/** A member whose name is not among the properties; undefined if the schema does not allow any. */
function otherMember(schema: SchemaNode, path: Path, compiler: ObjectCompiler): GrammarNode | undefined {
  const { properties = {}, required = [], patternProperties, propertyNames } = schema;
  const additional =
    schema.additionalProperties ?? (Object.keys(properties).length === 0 && !patternProperties);
  if (patternProperties && Object.keys(patternProperties).length > 0) {
    return patternMember(patternProperties, additional, path, compiler);
  }
  if (additional === false) return undefined;
  const names = [...Object.keys(properties), ...required];
  const name =
    propertyNames === undefined
      ? otherName(names)
      : nameGrammar(propertyNames, [...path, 'propertyNames'], compiler);
  const value = compiler.schema(additional, [...path, 'additionalProperties']);
  return compiler.define(() => sequence(name, colon(), value));
}

function patternMember(
  patterns: Record<string, unknown>,
  additional: unknown,
  path: Path,
  compiler: ObjectCompiler,
): GrammarNode {
  const [first, ...more] = Object.entries(patterns);
  if (more.length > 0 || additional !== false) {
    const reason = '"patternProperties" is supported with one pattern and without additional properties.';
    throw new ConstraintError(reason, [...path, 'patternProperties']);
  }
  const [pattern, value] = first!;
  const place = [...path, 'patternProperties', pattern];
  const name = quoted(escapeGrammar(patternGrammar(pattern, place)));
  return compiler.define(() => sequence(name, colon(), compiler.schema(value, place)));
}

function nameGrammar(schema: unknown, path: Path, compiler: ObjectCompiler): GrammarNode {
  return compiler.schema({ allOf: [{ type: 'string' }, schema] }, path);
}

/** Names other than these. Each character has one spelling, so that an escape cannot spell an excluded name. */
function otherName(names: readonly string[]): GrammarNode {
  const anything = repeat(characters(anyCharacter), 0);
  if (names.length === 0) return quoted(escapeGrammar(anything));
  const whole = new Set(names);
  const following = new Map<string, CharacterSet>();
  for (const name of names) {
    const letters = Array.from(name);
    letters.forEach((letter, index) => {
      const prefix = letters.slice(0, index).join('');
      const code = letter.codePointAt(0)!;
      following.set(prefix, union(following.get(prefix) ?? [], characterSet([code, code])));
    });
    following.set(name, following.get(name) ?? []);
  }
  const options = [...following].flatMap(([prefix, next]) => [
    ...(whole.has(prefix) ? [] : [text(prefix)]),
    sequence(text(prefix), characters(complement(next)), anything),
  ]);
  return quoted(escapeGrammar(choice(...options)));
}

function checkCounts(schema: SchemaNode, properties: readonly Property[], open: boolean, path: Path): void {
  const { minProperties: min = 0, maxProperties: max } = schema;
  const required = properties.filter((property) => property.required).length;
  // A repeated name counts once, but a grammar cannot detect a repetition.
  if (open && min > Math.max(1, required)) {
    const reason = `With members of any name, minProperties can be at most ${Math.max(1, required)}.`;
    throw new ConstraintError(reason, [...path, 'minProperties']);
  }
  const counted = Math.max(min, max ?? 0);
  if (counted * Math.max(1, properties.length) > maxCountedStates) {
    throw new ConstraintError('It is too large for the number of properties.', [
      ...path,
      max ? 'maxProperties' : 'minProperties',
    ]);
  }
}

/** The members between the braces, with one rule for each property to start from and count of members before it. */
class MemberList {
  private readonly known = new Map<string, GrammarNode>();

  constructor(
    private readonly properties: readonly Property[],
    private readonly other: GrammarNode | undefined,
    private readonly counts: { readonly min: number; readonly max: number },
    private readonly compiler: ObjectCompiler,
  ) {}

  /** @param present Number of members so far; counted up to the highest number that makes a difference. */
  from(index: number, present: number): GrammarNode {
    const { min, max } = this.counts;
    const counted = max === Number.POSITIVE_INFINITY ? Math.min(present, Math.max(1, min)) : present;
    const key = `${index} ${counted}`;
    const known = this.known.get(key) ?? this.compiler.define(() => this.describe(index, counted));
    this.known.set(key, known);
    return known;
  }

  private describe(index: number, present: number): GrammarNode {
    const property = this.properties[index];
    if (!property) return this.describeOthers(present);
    const separator = present > 0 ? [comma()] : [];
    const options: GrammarNode[] = [];
    if (present < this.counts.max) {
      options.push(sequence(...separator, property.member, this.from(index + 1, present + 1)));
    }
    if (!property.required) options.push(this.from(index + 1, present));
    return choice(...options);
  }

  private describeOthers(present: number): GrammarNode {
    const { min, max } = this.counts;
    const missing = Math.max(0, min - present);
    const most = max - present;
    if (!this.other || most <= 0) return missing === 0 ? text('') : choice();
    if (present === 0) return listOf(this.other, missing, most);
    return repeat(sequence(comma(), this.other), missing, most);
  }
}
