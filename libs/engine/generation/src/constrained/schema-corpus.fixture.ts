/** Written by hand: one or several for each keyword of JSON Schema. */
const handWritten: readonly unknown[] = [
  true,
  {},
  { type: 'object' },
  { type: 'object', properties: {}, additionalProperties: false },
  { type: 'array' },
  { type: 'string' },
  { type: 'number' },
  { type: 'integer' },
  { type: 'boolean' },
  { type: 'null' },
  { type: ['string', 'null'] },
  { type: ['integer', 'string', 'boolean'], minimum: 3, maxLength: 4 },
  { enum: ['a', 1, null, { b: [1, 'x'] }, [true], 'quo"te', 'back\\slash', 'línea\n'] },
  { type: 'integer', enum: [1, 'no', 2.5, 7] },
  { const: { a: { b: null } } },
  { const: 'only' },
  { enum: ['aa', 'b', 'cccc'], minLength: 2 },
  { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] },
  { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'string' } }, required: ['b'] },
  { type: 'object', properties: { a: true, b: false, c: { type: 'null' } }, required: ['c'] },
  { type: 'object', properties: { a: { type: 'null' } }, additionalProperties: { type: 'boolean' } },
  {
    type: 'object',
    properties: { ab: { const: 1 }, abc: { const: 2 } },
    additionalProperties: { type: 'string' },
  },
  {
    type: 'object',
    properties: { ключ: { type: 'string' }, 日本: { type: 'integer' }, '😀': { type: 'null' } },
    required: ['ключ', '😀'],
  },
  {
    type: 'object',
    properties: { 'with "quotes"': { const: 1 }, 'back\\slash': { const: 2 }, '': { const: 3 } },
    required: ['with "quotes"', 'back\\slash', ''],
  },
  { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } },
  { type: 'object', additionalProperties: false },
  { type: 'object', required: ['x'], additionalProperties: { type: 'integer' } },
  { type: 'object', minProperties: 1, additionalProperties: { type: 'integer' } },
  { type: 'object', maxProperties: 2, additionalProperties: { type: 'null' } },
  {
    type: 'object',
    properties: { a: { const: 1 }, b: { const: 2 }, c: { const: 3 } },
    minProperties: 2,
    additionalProperties: false,
  },
  { type: 'object', properties: { a: { const: 1 }, b: { const: 2 }, c: { const: 3 } }, maxProperties: 1 },
  {
    type: 'object',
    properties: { a: { const: 1 }, b: { const: 2 }, c: { const: 3 } },
    required: ['b'],
    minProperties: 2,
    maxProperties: 2,
  },
  { type: 'object', patternProperties: { '^x-': { type: 'integer' } }, additionalProperties: false },
  {
    type: 'object',
    properties: { id: { type: 'integer' } },
    patternProperties: { '^s_[a-z]+$': { type: 'string' } },
    additionalProperties: false,
    required: ['id'],
  },
  { type: 'object', propertyNames: { pattern: '^[a-z]{1,3}$' }, additionalProperties: { type: 'integer' } },
  { type: 'object', propertyNames: { enum: ['left', 'right'] }, additionalProperties: { type: 'boolean' } },
  { type: 'array', items: { type: 'integer' } },
  { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 4 },
  { type: 'array', items: { enum: ['x', 'y'] }, minItems: 3 },
  { type: 'array', maxItems: 0 },
  { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }] },
  { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }], items: false, minItems: 2 },
  { type: 'array', prefixItems: [{ type: 'integer' }], items: { type: 'boolean' }, minItems: 3, maxItems: 5 },
  { type: 'array', prefixItems: [{ type: 'null' }, { type: 'null' }], minItems: 1, maxItems: 1 },
  { type: 'array', items: { type: 'array', items: { type: 'boolean' }, maxItems: 2 }, maxItems: 3 },
  { type: 'array', items: { type: 'integer' }, uniqueItems: true, maxItems: 1 },
  { type: 'string', minLength: 3, maxLength: 6 },
  { type: 'string', maxLength: 0 },
  { type: 'string', minLength: 40, maxLength: 45 },
  { type: 'string', maxLength: 5000 },
  { type: 'string', pattern: '^[A-Z]{2}-\\d{3,5}$' },
  { type: 'string', pattern: 'needle' },
  { type: 'string', pattern: '^a|b$' },
  { type: 'string', pattern: '^(yes|no|"quoted"|back\\\\slash)$' },
  { type: 'string', pattern: '^[^a-z]{1,4}$' },
  { type: 'string', pattern: '^.{2,4}$' },
  { type: 'string', pattern: '^\\w+@\\w+\\.(com|org)$' },
  { type: 'string', pattern: '^\\p{Lu}\\p{Ll}{1,3}$' },
  { type: 'string', pattern: '^[\\s\\S]{3}$' },
  { type: 'string', pattern: '^(?:ab?c*)+$', minLength: 1 },
  { type: 'string', pattern: '^\\u{1F600}?[\\u00e9\\x41]$' },
  ...['date', 'time', 'date-time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid'].map(
    (format) => ({ type: 'string', format }),
  ),
  { type: 'integer', minimum: 1, maximum: 10 },
  { type: 'integer', minimum: -17, maximum: 123 },
  { type: 'integer', exclusiveMinimum: 99, exclusiveMaximum: 102 },
  { type: 'integer', maximum: -5 },
  { type: 'integer', minimum: 1234 },
  { type: 'integer', minimum: 1.5, maximum: 3.5 },
  { type: 'integer', multipleOf: 5, minimum: 0, maximum: 100 },
  { type: 'integer', multipleOf: 100 },
  { type: 'integer', multipleOf: 7 },
  { type: 'number', minimum: 0, maximum: 1 },
  { type: 'number', exclusiveMinimum: 0, maximum: 0.25 },
  { type: 'number', minimum: -1.5, exclusiveMaximum: 2.75 },
  { type: 'number', minimum: 1e-5, maximum: 2e-5 },
  { type: 'number', maximum: 1e6 },
  { type: 'number', minimum: -273.15 },
  { type: 'number', multipleOf: 0.5, minimum: 0, maximum: 4 },
  { type: 'number', multipleOf: 10, minimum: -100, maximum: 1000 },
  { minimum: 5 },
  { minLength: 2, minItems: 1 },
  { anyOf: [{ type: 'string', maxLength: 3 }, { type: 'integer' }] },
  {
    anyOf: [
      { type: 'object', properties: { a: { const: 1 } }, required: ['a'] },
      { type: 'array', items: { const: 0 } },
    ],
  },
  {
    type: 'object',
    properties: { kind: { enum: ['a', 'b'] } },
    required: ['kind'],
    anyOf: [
      { properties: { x: { type: 'integer' } }, required: ['x'] },
      { properties: { y: { type: 'null' } }, required: ['y'] },
    ],
  },
  { oneOf: [{ type: 'string' }, { type: 'null' }, { type: 'integer' }] },
  { oneOf: [{ const: 'a' }, { enum: ['b', 'c'] }, { type: 'number' }] },
  {
    oneOf: ['cat', 'dog'].map((kind) => ({
      type: 'object',
      properties: { kind: { const: kind }, [kind]: { type: 'integer' } },
      required: ['kind', kind],
    })),
  },
  {
    allOf: [
      { type: 'object', properties: { a: { type: 'integer', minimum: 2 } }, required: ['a'] },
      { properties: { a: { maximum: 4 }, b: { type: 'null' } }, required: ['b'] },
    ],
  },
  { allOf: [{ type: ['integer', 'string'] }, { type: ['number', 'null'] }] },
  { allOf: [{ $ref: '#/$defs/base' }, { maxLength: 4 }], $defs: { base: { type: 'string', minLength: 2 } } },
  {
    $ref: '#/$defs/pair',
    $defs: {
      pair: { type: 'array', items: { $ref: '#/$defs/one' }, minItems: 2, maxItems: 2 },
      one: { type: 'integer' },
    },
  },
  {
    type: 'object',
    properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] }, value: { type: 'boolean' } },
    required: ['value'],
  },
  {
    $ref: '#/definitions/tree',
    definitions: {
      tree: {
        type: 'object',
        properties: {
          name: { type: 'string', maxLength: 3 },
          children: { type: 'array', items: { $ref: '#/definitions/tree' }, maxItems: 2 },
        },
        required: ['name', 'children'],
        additionalProperties: false,
      },
    },
  },
  {
    $defs: { 'a/b~c': { type: 'boolean' } },
    type: 'object',
    properties: { x: { $ref: '#/$defs/a~1b~0c' } },
    required: ['x'],
  },
  {
    anyOf: [
      { type: 'object', properties: { self: { $ref: '#/anyOf/0' } }, required: ['self'] },
      { const: 'the only way out' },
    ],
  },
  { type: 'object', properties: { a: { type: 'string', nullable: true, maxLength: 2 } }, required: ['a'] },
  {
    type: 'object',
    title: 'With annotations',
    description: 'x',
    'x-order': 1,
    properties: { a: { type: 'integer', default: 3, examples: [1], deprecated: true } },
    required: ['a'],
    $comment: 'no',
  },
];

type Random = () => number;

function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)]!;
}

const names = ['id', 'name', 'größe', 'a b', 'x"y', '_', 'type', '名前', 'A1', 'nested'];

/** A schema of random shape, `depth` levels deep at most. */
function randomSchema(random: Random, depth: number): unknown {
  const leaves = [
    () => ({
      type: 'integer',
      minimum: Math.floor(random() * 50) - 25,
      maximum: 25 + Math.floor(random() * 2000),
    }),
    () => ({
      type: 'number',
      minimum: -Math.floor(random() * 900) / 8,
      maximum: Math.floor(random() * 900) / 8,
    }),
    () => ({ type: 'string', minLength: Math.floor(random() * 3), maxLength: 3 + Math.floor(random() * 9) }),
    () => ({
      type: 'string',
      pattern: pick(random, ['^[a-f0-9]{4}$', '^(foo|bar)+$', '\\d', '^[^"]{0,5}$']),
    }),
    () => ({ enum: [pick(random, names), Math.floor(random() * 9), null] }),
    () => ({ type: pick(random, ['boolean', 'null', 'integer', 'number', 'string']) }),
  ];
  const inner = () => randomSchema(random, depth - 1);
  const branches = [
    () => randomObject(random, inner),
    () => randomObject(random, inner),
    () => ({
      type: 'array',
      items: inner(),
      minItems: Math.floor(random() * 2),
      maxItems: 1 + Math.floor(random() * 3),
    }),
    () => ({
      type: 'array',
      prefixItems: [inner(), inner()],
      items: false,
      minItems: Math.floor(random() * 3),
    }),
    () => ({ anyOf: [inner(), inner()] }),
  ];
  return pick(random, depth > 0 ? [...branches, ...leaves.slice(0, 2)] : leaves)();
}

function randomObject(random: Random, inner: () => unknown): unknown {
  const chosen = names.filter(() => random() < 0.35);
  return {
    type: 'object',
    properties: Object.fromEntries(chosen.map((name) => [name, inner()])),
    required: chosen.filter(() => random() < 0.6),
    ...(random() < 0.5 && { additionalProperties: random() < 0.6 ? false : { type: 'boolean' } }),
  };
}

/** Schemas of every kind, and `randomOnes` random ones, which are the same in every run. */
export function schemaCorpus(random: Random, randomOnes: number): unknown[] {
  return [...handWritten, ...Array.from({ length: randomOnes }, () => randomSchema(random, 3))];
}
