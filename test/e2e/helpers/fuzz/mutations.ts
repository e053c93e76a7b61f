import type { Random } from './random.js';

const oddValues: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  Number.MAX_SAFE_INTEGER,
  -1e21,
  '',
  ' ',
  '\u0000',
  '\ud800',
  '💩'.repeat(50),
  'x'.repeat(20_000),
  [],
  {},
  [[]],
  [null],
  { __proto__x: 1, constructor: { prototype: {} } },
];

/** Changes one place of a value: another type, a missing or added field, a huge number, deep nesting, or all of it. */
export function mutateValue(value: unknown, random: Random): unknown {
  if (random.chance(0.04)) return random.pick(oddValues);
  const copy = structuredClone(value);
  const places = placesOf(copy);
  if (places.length === 0) return random.pick(oddValues);
  const { holder, key } = random.pick(places);
  const kind = random.below(10);
  if (kind === 0 && !Array.isArray(holder)) delete holder[key];
  else if (kind === 1) holder[key] = nested(20 + random.below(80));
  else if (kind === 2) holder[`${key}_unknown`] = 1;
  else if (kind === 3) holder[key] = Array.from({ length: 3_000 }, () => holder[key]);
  else holder[key] = random.pick(oddValues);
  return copy;
}

type Holder = Record<string, unknown>;

function placesOf(value: unknown): { holder: Holder; key: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Holder;
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...placesOf(holder[key])]);
}

function nested(depth: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { inner: value };
  return value;
}

/** The bytes of a body that is no proper JSON any more: cut, broken UTF-8, empty, or something else. */
export function mutateText(value: unknown, random: Random): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(JSON.stringify(value) ?? '');
  switch (random.below(5)) {
    case 0:
      return bytes.slice(0, random.below(bytes.length + 1));
    case 1:
      return Uint8Array.from(bytes, (byte) => (random.chance(0.02) ? 0xc3 : byte));
    case 2:
      return new TextEncoder().encode('['.repeat(5_000));
    case 3:
      return new TextEncoder().encode('{"a":1,"a":2,}');
    default:
      return new Uint8Array();
  }
}
