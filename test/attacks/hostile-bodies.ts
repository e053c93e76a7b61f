import { createHash } from 'node:crypto';
import type { Ask } from './client.js';

/** Numbers from 0 to 1 that depend on a seed alone. */
function randomOf(seed: string): () => number {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  return () => {
    // Mulberry32.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const names =
  'model messages input query documents text texts inputs max_tokens n stream tools voice files'.split(' ');
const leaves: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  2 ** 53,
  '',
  'a',
  '\u0000',
  '\ud800',
  '😀'.repeat(50),
  '../..',
  'nano-chat',
];

function hostileValue(random: () => number, depth = 0): unknown {
  const kind = Math.floor(random() * (depth > 3 ? 2 : 5));
  const size = Math.floor(random() ** 4 * 400);
  if (kind < 2) return leaves[Math.floor(random() * leaves.length)];
  if (kind === 2) return 'x '.repeat(size * 20);
  if (kind === 3) return Array.from({ length: size }, () => hostileValue(random, depth + 2));
  return Object.fromEntries(
    Array.from({ length: 1 + (size % 8) }, () => [
      names[Math.floor(random() * names.length)],
      hostileValue(random, depth + 1),
    ]),
  );
}

/** The routes with a body, from the gateway's own document; not those that ask other hosts. */
export async function routesOf(ask: Ask): Promise<string[]> {
  const { text } = await ask('GET', '/openapi.json');
  const { paths } = JSON.parse(Buffer.from(text, 'latin1').toString()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  return Object.keys(paths).filter((path) => 'post' in paths[path]!);
}

/** Sends bodies `from` to `to`; each depends on its number alone, so that a run can go on. Returns answers that are no refusal. */
export async function sendHostileBodies(
  ask: Ask,
  routes: readonly string[],
  { seed, from, to }: { seed: string; from: number; to: number },
): Promise<string[]> {
  const wrong: string[] = [];
  let next = from;
  const sender = async () => {
    for (let number = next++; number < to; number = next++) {
      const random = randomOf(`${seed} ${number}`);
      const path = routes[Math.floor(random() * routes.length)]!.replaceAll(/\{[^}]*\}/g, 'unknown');
      const body = hostileValue(random);
      const text = random() < 0.1 ? JSON.stringify(body).slice(0, -1) : body;
      const { status, text: answer } = await ask('POST', path, text ?? null);
      if (status === 0 || status >= 500)
        wrong.push(`body ${number} to ${path}: ${status} ${answer.slice(0, 200)}`);
    }
  };
  await Promise.all(Array.from({ length: 4 }, sender));
  return wrong;
}
