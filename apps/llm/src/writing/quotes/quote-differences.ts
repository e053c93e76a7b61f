import { gatherInTurns } from '#platform/foundation';
import type { RetrievedDocument } from '#platform/contracts';
import { type DocumentTexts } from '#answers/questions';
import { writeAnswer } from '#answers/extractive';
import { dot } from '../centrality.js';
import type { EmbedTexts } from '../extractive-writer.js';
import { blockOf, embedded, placesOf, type Place, type WholeAnswer } from './places.js';

/** Limits for a comparison: sentences that changed, and sentences of one document alone. */
const differences = { changed: 5, alone: 4 };
/** Cosine similarity from which two sentences are two versions of one. */
const sameSubject = 0.7;
/** Sentences of one document that are compared. */
const maxCompared = 600;

/**
 * The sentences that differ between two documents: pairs about the same, then those of one document alone, each with its
 * passage; for models that quote.
 */
export async function quoteDifferences(
  documents: readonly RetrievedDocument[],
  embed: EmbedTexts,
  signal: AbortSignal,
  texts: DocumentTexts,
): Promise<WholeAnswer> {
  const all = await gatherInTurns(placesOf(documents), signal);
  const [before = [], after = []] = [
    ...groupedBy(all, ({ document }) => document.metadata['document_id']).values(),
  ];
  const [first, second] = [nameOf(before), nameOf(after)];
  const old = without(before, after);
  const fresh = without(after, before);
  if (old.length + fresh.length === 0)
    return {
      answer: writeAnswer(texts.nothingDiffers(first, second), [], 1),
      promptTokens: 0,
    };
  const { vectors, promptTokens } = await embedded([...old, ...fresh], embed, signal);
  const pairs = await pairsOf(vectors.slice(0, old.length), vectors.slice(old.length), signal);
  const changed = pairs
    .slice(0, differences.changed)
    .flatMap(({ left, right }) => [blockOf(`${first}: `, old[left]!), blockOf(`${second}: `, fresh[right]!)]);
  const onlyOld = old.filter((_place, index) => !pairs.some(({ left }) => left === index));
  const onlyFresh = fresh.filter((_place, index) => !pairs.some(({ right }) => right === index));
  const blocks = [
    ...changed,
    ...onlyOld.slice(0, differences.alone).map((place) => blockOf(`${texts.onlyIn(first)} `, place)),
    ...onlyFresh.slice(0, differences.alone).map((place) => blockOf(`${texts.onlyIn(second)} `, place)),
  ];
  const left = pairs.length * 2 + onlyOld.length + onlyFresh.length - blocks.length;
  const opening = left > 0 ? texts.more(left) : '';
  return { answer: writeAnswer(opening, blocks, 1), promptTokens };
}

/** The sentences that another document does not have in other white space, case or punctuation. */
function without(places: readonly Place[], others: readonly Place[]): Place[] {
  const known = new Set(others.map(({ text }) => plain(text)));
  return places.filter(({ text }) => !known.has(plain(text))).slice(0, maxCompared);
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

interface Pair {
  left: number;
  right: number;
  value: number;
}

/** Pairs of similar sentences, each sentence once, in the order of the first document. */
async function pairsOf(
  left: readonly Float32Array[],
  right: readonly Float32Array[],
  signal: AbortSignal,
): Promise<Pair[]> {
  const all = (await gatherInTurns(similarRows(left, right), signal)).flat();
  const [usedLeft, usedRight] = [new Set<number>(), new Set<number>()];
  const pairs: Pair[] = [];
  for (const pair of all.toSorted((one, other) => other.value - one.value)) {
    if (usedLeft.has(pair.left) || usedRight.has(pair.right)) continue;
    usedLeft.add(pair.left);
    usedRight.add(pair.right);
    pairs.push(pair);
  }
  return pairs.toSorted((one, other) => one.left - other.left);
}

/** Yields the similar sentences of each sentence on the left. */
function* similarRows(
  left: readonly Float32Array[],
  right: readonly Float32Array[],
): Generator<Pair[], void, void> {
  for (const [row, one] of left.entries())
    yield [...right.entries()]
      .map(([column, other]) => ({ left: row, right: column, value: dot(one, other) }))
      .filter(({ value }) => value >= sameSubject);
}

function nameOf([first]: readonly Place[]): string {
  const name = first?.document.metadata['filename'];
  return typeof name === 'string' ? name : 'the other document';
}

function groupedBy<Item>(items: readonly Item[], keyOf: (item: Item) => unknown): Map<unknown, Item[]> {
  const groups = new Map<unknown, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
