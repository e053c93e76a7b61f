import { existsSync, readFileSync } from 'node:fs';
import { bodyBounds, MegaNestError, parseOrThrow } from '#platform/contracts';
import { routesOf, parseJsonBody, type Route } from '#platform/service-kit';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { controllersOf } from './controllers.js';
import { hole, placesOf, type Place } from './hostile-bodies.js';

const bodyLimitBytes = 10 * 1024 * 1024;
/** Longest time of the event loop for one body, in ms of processor time. */
const maxHoldMs = 100;
/** `BODY_RUNS=20000 npx vitest run --project integration test/integration/openapi/body-sizes.spec.ts` takes minutes. */
const runs = Number(process.env.BODY_RUNS ?? 150);

interface Case {
  route: Route;
  place: Place;
}
const cases: Case[] = [];

beforeAll(async () => {
  const controllers = [...(await controllersOf('apps')), ...(await controllersOf('libs'))];
  const routes = controllers.flatMap(routesOf).filter(({ body }) => body);
  for (const route of routes) for (const place of placesOf(route.body!)) cases.push({ route, place });
});

/** Elements that no schema expects, and those that several schemas accept. */
const junk = [
  '{}',
  '-1',
  'null',
  '[]',
  '"a"',
  '[[]]',
  '{"type":"x"}',
  '{"type":null,"name":null,"role":"user"}',
];

/** The text of a body with a number of equal elements, and one other element before or after them. */
function bodyOf(
  { place }: Case,
  size: { count: number; element: string; other: string; at: string },
): string {
  const room = bodyLimitBytes - 100_000;
  const isList = place.kind === 'list';
  const count = Math.min(size.count, Math.floor(room / (size.element.length + (isList ? 1 : 12))));
  const elements = isList
    ? `${size.element},`.repeat(count)
    : Array.from({ length: count }, (_unused, index) => `"k${index}":${size.element},`).join('');
  const other = isList ? size.other : `"other":${size.other}`;
  const all = size.at === 'before' ? `${other},${elements}`.slice(0, -1) : `${elements}${other}`;
  const text = isList ? `[${all}]` : `{${all}}`;
  return JSON.stringify(place.around).replace(JSON.stringify(hole), () => text);
}

/** Milliseconds that this thread used the processor; of the clock where the system does not say. */
function usedMs(): number {
  const path = '/proc/thread-self/schedstat';
  if (!existsSync(path)) return performance.now();
  return Number(readFileSync(path, 'utf8').split(' ')[0]) / 1e6;
}

/** Reads a body as the server does; returns the time, and the error that the client would get. */
function read({ route }: Case, text: string): { ms: number; error?: MegaNestError } {
  const start = usedMs();
  try {
    parseOrThrow(route.body!, parseJsonBody(text, route.bodyBounds));
    return { ms: usedMs() - start };
  } catch (error) {
    return { ms: usedMs() - start, error: MegaNestError.from(error, 'gateway') };
  }
}

describe('bodies of every size', () => {
  it('has lists and objects of each route', () => {
    expect(new Set(cases.map(({ route }) => route.name)).size).toBeGreaterThan(20);
    expect(cases.length).toBeGreaterThan(100);
  });

  it(`are answered or refused within ${maxHoldMs} ms of the event loop`, { timeout: 1_800_000 }, () => {
    const body = fc.record({
      place: fc.nat().map((number) => cases[number % cases.length]!),
      count: fc.oneof(
        // The number of digits is as likely as another one, and the bounds are likely too.
        fc.double({ min: 0, max: 7, noNaN: true }).map((digits) => Math.floor(10 ** digits)),
        fc.constantFrom(bodyBounds.elements - 1, bodyBounds.keys - 1, 4_999, 310_000),
      ),
      element: fc.nat(),
      other: fc.constantFrom(...junk),
      at: fc.constantFrom('before', 'after'),
    });
    let longest = { ms: 0, what: '' };
    fc.assert(
      fc.property(body, ({ place, element, ...size }) => {
        const elements = [...place.place.valid, ...junk];
        const text = bodyOf(place, { ...size, element: elements[element % elements.length]! });
        const { error, ...first } = read(place, text);
        let { ms } = first;
        // A collection of garbage, and code that is compiled, count once.
        for (let again = 0; ms > maxHoldMs && again < 3; again += 1) ms = Math.min(ms, read(place, text).ms);
        if (ms > longest.ms) longest = { ms, what: `${place.route.name} ${place.place.at}, ${text.length}` };
        expect(error?.status ?? 200).toBeLessThan(500);
        expect(ms).toBeLessThan(maxHoldMs);
      }),
      { numRuns: runs, ...(process.env.BODY_SEED && { seed: Number(process.env.BODY_SEED) }) },
    );
    if (process.env.BODY_RUNS) console.info(longest);
  });
});
