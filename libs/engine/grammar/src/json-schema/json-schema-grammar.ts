import { ConstraintError, choice, rule, text, type Grammar, type GrammarNode, sequence } from '../grammar.js';
import { disjoint, flattenSchema } from './intersect-schemas.js';
import { jsonLiteral, jsonRules, braces, comma, listOf } from './json-grammar.js';
import { numberGrammar } from './number-grammar.js';
import { objectGrammar } from './object-grammar.js';
import {
  literalFits,
  readSchema,
  typesOf,
  type JsonType,
  type Path,
  type Schema,
  type SchemaNode,
} from './schema-node.js';
import { stringGrammar } from './string-grammar.js';

type CompileSchema = (schema: unknown, path: Path) => GrammarNode;

/** Maximum of `minItems` and `maxItems`. */
const maxListedItems = 4096;

/** A JSON array: first the items of `prefixItems`, then further items within the bounds. */
function arrayGrammar(schema: SchemaNode, path: Path, compile: CompileSchema): GrammarNode {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, uniqueItems } = schema;
  checkBounds(schema, path);
  if (uniqueItems && maxItems > 1) {
    throw new ConstraintError('"uniqueItems" is not supported.', [...path, 'uniqueItems']);
  }
  // Drafts before 2020-12 write `prefixItems` as a list of `items`.
  const isTuple = Array.isArray(schema.items);
  const prefix = isTuple ? (schema.items as unknown[]) : (schema.prefixItems ?? []);
  const prefixKey = isTuple ? 'items' : 'prefixItems';
  const further = isTuple ? (schema.additionalItems ?? true) : (schema.items ?? prefix.length === 0);
  const first = prefix.map((item, index) => compile(item, [...path, prefixKey, index]));
  const item = compile(further, [...path, isTuple ? 'additionalItems' : 'items']);
  if (first.length === 0) return braces('[', listOf(item, minItems, maxItems), ']');
  const lists: GrammarNode[] = [];
  for (let count = minItems; count <= Math.min(maxItems, first.length - 1); count++) {
    lists.push(joined(first.slice(0, count)));
  }
  if (maxItems >= first.length) {
    const [least, most] = [Math.max(0, minItems - first.length), maxItems - first.length];
    const whole = joined(first);
    if (least === 0) lists.push(whole);
    if (most > 0) lists.push(sequence(whole, comma(), listOf(item, Math.max(1, least), most)));
  }
  return braces('[', choice(...lists), ']');
}

function checkBounds({ minItems, maxItems }: SchemaNode, path: Path): void {
  for (const [key, bound] of Object.entries({ minItems, maxItems })) {
    if (bound !== undefined && bound > maxListedItems) {
      throw new ConstraintError(`At most ${maxListedItems} items are supported.`, [...path, key]);
    }
  }
}

function joined(items: readonly GrammarNode[]): GrammarNode {
  if (items.length === 0) return text('');
  return sequence(...items.flatMap((item, index) => (index === 0 ? [item] : [comma(), item])));
}

const maxRules = 2000;
const maxSchemaDepth = 64;

/**
 * Returns the grammar of the JSON texts that satisfy a JSON Schema (2020-12, and equivalent keywords of older drafts).
 * It never allows other texts, but leaves some valid ones out: see docs/design/grammars-and-tools.md. Throws ConstraintError, with the path
 * of the keyword, for keywords that a grammar cannot express.
 */
export function jsonSchemaGrammar(schema: unknown): Grammar {
  return new SchemaCompiler(schema).compile();
}

class SchemaCompiler {
  private readonly rules = new Map<string, GrammarNode>(jsonRules);
  /** Rule names by the content of schemas, so that a recursive schema is one rule. */
  private readonly names = new Map<string, string>();
  private readonly resolve = (reference: string, path: Path) => this.lookUp(reference, path);
  private ruleCount = 0;
  private depth = 0;

  constructor(private readonly document: unknown) {}

  compile(): Grammar {
    return { root: this.schema(this.document, []), rules: this.rules };
  }

  private readonly schema = (value: unknown, path: Path): GrammarNode => {
    const schema = readSchema(value, path);
    if (schema === true) return rule('json_value');
    if (schema === false) return choice();
    const key = JSON.stringify(schema);
    const known = this.names.get(key);
    if (known) return rule(known);
    const name = this.newName(path);
    this.names.set(key, name);
    if (++this.depth > maxSchemaDepth) {
      throw new ConstraintError(`Schemas nested deeper than ${maxSchemaDepth} are not supported.`, path);
    }
    this.rules.set(name, this.describe(schema, path));
    this.depth--;
    return rule(name);
  };

  private readonly define = (node: () => GrammarNode): GrammarNode => {
    const name = this.newName([]);
    this.rules.set(name, node());
    return rule(name);
  };

  private newName(path: Path): string {
    if (++this.ruleCount > maxRules) throw new ConstraintError('The schema is too large.', path);
    return `s${this.ruleCount}`;
  }

  private describe(schema: SchemaNode, path: Path): GrammarNode {
    const { $ref } = schema;
    if ($ref !== undefined && Object.keys(schema).length === 1)
      return this.schema(this.lookUp($ref, path), path);
    const flat = flattenSchema(schema, path, this.resolve);
    if (flat === true) return rule('json_value');
    if (flat === false) return choice();
    if (flat.anyOf || flat.oneOf) return this.alternatives(flat, path);
    return this.value(flat, path);
  }

  private alternatives(schema: SchemaNode, path: Path): GrammarNode {
    const key = schema.anyOf ? 'anyOf' : 'oneOf';
    const { [key]: options, ...rest } = schema;
    const isPlain = Object.keys(rest).length === 0;
    const joined = options!.map((option, index) => {
      // Reports an error in an option with the option's own path.
      readSchema(option, [...path, key, index]);
      return isPlain ? option : { allOf: [rest, option] };
    });
    if (key === 'oneOf') this.refuseOverlap(joined, path);
    return choice(...joined.map((option, index) => this.schema(option, [...path, key, index])));
  }

  private refuseOverlap(options: readonly unknown[], path: Path): void {
    const flat = options.map((option, index) => {
      const place = [...path, 'oneOf', index];
      return flattenSchema(readSchema(option, place), place, this.resolve);
    });
    const read = (value: unknown) => flattenSchema(readSchema(value, path), path, this.resolve);
    flat.forEach((option, index) => {
      const other = flat.slice(0, index).findIndex((earlier) => !disjoint(earlier, option, read));
      if (other < 0) return;
      throw new ConstraintError(
        `One value may satisfy both option ${other} and option ${index}; use anyOf, or add a constant that differs.`,
        [...path, 'oneOf'],
      );
    });
  }

  private value(schema: SchemaNode, path: Path): GrammarNode {
    const literals = literalsOf(schema);
    if (literals) {
      const fitting = literals.filter((value) => literalFits(value, schema, path));
      return choice(...fitting.map(jsonLiteral));
    }
    return choice(...typesOf(schema, path).map((type) => this.ofType(type, schema, path)));
  }

  private ofType(type: JsonType, schema: SchemaNode, path: Path): GrammarNode {
    switch (type) {
      case 'object':
        return objectGrammar(schema, path, { schema: this.schema, define: this.define });
      case 'array':
        return arrayGrammar(schema, path, this.schema);
      case 'string':
        return stringGrammar(schema, path);
      case 'integer':
      case 'number':
        return numberGrammar(schema, type === 'integer', path);
      case 'boolean':
        return choice(text('true'), text('false'));
      default:
        return text('null');
    }
  }

  /** Returns the target of a reference within the document. */
  private lookUp(reference: string, path: Path): Schema {
    const place = [...path, '$ref'];
    if (!/^#(\/|$)/.test(reference)) {
      throw new ConstraintError('A reference must point into the same schema, e.g. "#/$defs/name".', place);
    }
    let target = this.document;
    for (const part of reference.split('/').slice(1)) {
      const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
      const isThere = typeof target === 'object' && target !== null && Object.hasOwn(target, key);
      if (!isThere) throw new ConstraintError(`${reference} leads nowhere.`, place);
      target = (target as Record<string, unknown>)[key];
    }
    return readSchema(target, place);
  }
}

function literalsOf(schema: SchemaNode): readonly unknown[] | undefined {
  if (!('const' in schema)) return schema.enum;
  return [schema.const];
}
