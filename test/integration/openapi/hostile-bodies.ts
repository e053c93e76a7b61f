import { z } from 'zod';

/** A part of a JSON Schema. */
interface Node {
  readonly [keyword: string]: unknown;
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
  readonly allOf?: readonly Node[];
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: Node | boolean;
  readonly required?: readonly string[];
}

/** A list or an object of any size somewhere in a body. */
export interface Place {
  /** `messages[].content`. */
  at: string;
  kind: 'list' | 'object';
  /** JSON of elements that the schema accepts there, alone. */
  valid: readonly string[];
  /** The body around the place, with {@link hole} in it. */
  around: unknown;
}

/** Stands for the list or the object in the body around it. */
export const hole = '\u0001';
const maxLevels = 7;

/** Each place of a schema that may have any number of elements or fields. */
export function placesOf(schema: z.ZodType): Place[] {
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Node;
  const places = [...new Reader(root).places(root, '', 0)];
  return [...new Map(places.map((place) => [`${place.kind} ${place.at}`, place])).values()];
}

class Reader {
  constructor(private readonly root: Node) {}

  *places(given: Node, at: string, level: number): Generator<Place> {
    if (level > maxLevels) return;
    const node = this.#resolve(given);
    for (const alternative of alternativesOf(node)) yield* this.places(alternative, at, level + 1);
    if (typeOf(node) === 'array') {
      yield { at, kind: 'list', valid: this.#elements(node.items ?? {}), around: hole };
      for (const place of this.places(node.items ?? {}, `${at}[]`, level + 1))
        yield { ...place, around: [place.around] };
    }
    if (typeOf(node) !== 'object') return;
    const { properties, additionalProperties: others } = node;
    if (others || !properties)
      yield {
        at,
        kind: 'object',
        valid: this.#elements(typeof others === 'object' ? others : {}),
        around: hole,
      };
    const smallest = this.#smallest(node, 0) as object;
    for (const [name, property] of Object.entries(properties ?? {}))
      for (const place of this.places(property, at === '' ? name : `${at}.${name}`, level + 1))
        yield { ...place, around: { ...smallest, [name]: place.around } };
  }

  #elements(node: Node): string[] {
    const resolved = this.#resolve(node);
    const kinds = alternativesOf(resolved);
    return (kinds.length > 0 ? kinds : [resolved]).map((kind) => JSON.stringify(this.#smallest(kind, 0)));
  }

  #resolve(node: Node): Node {
    if (node.$ref === undefined) return node;
    const path = node.$ref.split('/').slice(1);
    const target = path.reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], this.root);
    return this.#resolve(target as Node);
  }

  /** The smallest value that a part of the schema describes. */
  #smallest(given: Node, level: number): unknown {
    const node = this.#resolve(given);
    if (level > maxLevels) return null;
    if ('const' in node) return node['const'];
    if (Array.isArray(node['enum'])) return (node['enum'] as unknown[])[0];
    const [alternative] = alternativesOf(node);
    if (alternative) return this.#smallest(alternative, level + 1);
    switch (typeOf(node)) {
      case 'object':
        return Object.fromEntries(
          (node.required ?? []).map((key) => [key, this.#smallest(node.properties?.[key] ?? {}, level + 1)]),
        );
      case 'array':
        return Array.from({ length: Number(node['minItems'] ?? 0) }, () =>
          this.#smallest(node.items ?? {}, level + 1),
        );
      case 'number':
      case 'integer':
        return node['minimum'] ?? 1;
      case 'boolean':
        return true;
      default:
        return 'a'.repeat(Number(node['minLength'] ?? 1) || 1);
    }
  }
}

function alternativesOf({ anyOf, oneOf, allOf }: Node): readonly Node[] {
  return anyOf ?? oneOf ?? allOf ?? [];
}

function typeOf({ type }: Node): string | undefined {
  return typeof type === 'object' ? type[0] : type;
}
