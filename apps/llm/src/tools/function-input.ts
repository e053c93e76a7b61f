import type { Tool } from '#platform/contracts';

type FunctionTool = Extract<Tool, { type: 'function' }>;

/**
 * Reads the streamed arguments of a function. Arguments that are not an object are held back and repaired, because small
 * models and some engines write a bare value, or the object as the text of a string.
 */
export class FunctionInput {
  #held = '';
  #isObject = false;

  constructor(private readonly tool: FunctionTool) {}

  /** Returns the part of the arguments that can be passed on. */
  push(piece: string): string {
    if (this.#isObject) return piece;
    this.#held += piece;
    this.#isObject = this.#held.trimStart().startsWith('{');
    return this.#isObject ? this.#held : '';
  }

  /** Returns the rest: `{}` for empty arguments, repaired ones, or arguments that cannot be repaired. */
  end(): string {
    return this.#isObject ? '' : repaired(this.#held, this.tool.parameters ?? {});
  }
}

type Schema = Readonly<Record<string, unknown>>;

/**
 * Arguments as the JSON text of an object: an object within a string, or a value of the only field of the schema.
 * Unchanged if they fit neither.
 */
function repaired(given: string, schema: Schema): string {
  const text = given.trim();
  if (text === '' || text === 'null') return '{}';
  const value = parse(text);
  if (typeof value === 'string') {
    const inner = parse(value);
    if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) return JSON.stringify(inner);
  }
  const field = onlyField(schema);
  // A text that is not JSON may be the value itself, unless it is the beginning of JSON.
  const wrapped = value === undefined && !/^[[{"]/.test(text) ? text : value;
  return field && wrapped !== undefined && field.takes(wrapped)
    ? JSON.stringify({ [field.name]: wrapped })
    : given;
}

/** The only field of an object's schema, or its only required field. */
function onlyField({ properties, required }: Schema) {
  if (typeof properties !== 'object' || properties === null) return undefined;
  const names = Object.keys(properties);
  const needed = Array.isArray(required) ? (required as unknown[]) : [];
  const name = names.length === 1 ? names[0] : needed.length === 1 ? String(needed[0]) : undefined;
  if (name === undefined) return undefined;
  const { type } = ((properties as Record<string, unknown>)[name] ?? {}) as { type?: unknown };
  return {
    name,
    takes: (value: unknown) => type === undefined || typesOf(value).some((one) => isType(type, one)),
  };
}

function isType(type: unknown, name: string): boolean {
  return Array.isArray(type) ? type.includes(name) : type === name;
}

function typesOf(value: unknown): string[] {
  if (Array.isArray(value)) return ['array'];
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer', 'number'] : ['number'];
  return [typeof value];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
