/** Texts of real shape and their vectors for `npm run bench -- growth`. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { loadEmbedder } from '#engine/encoders';
import { projectRoot } from '#platform/foundation';
import { benchFolder, bundledModel } from '../inference/models.js';
import { loadDatasets, sampleQuestions } from '../retrieval/datasets.js';

/** Words of a passage, as the bundled profile cuts them. */
const passageWords = 90;
const minWords = 20;
/** Passages that are embedded; chunks beyond are made of two of them. */
const maxEmbedded = 70_000;
/** Of each kind. */
const queriesOfKind = 100;
const manuals = '/usr/share/man';

/** A text with its vector. */
export interface EmbeddedText {
  text: string;
  vector: Float32Array;
}

/** What the collection is made of, and what is asked. */
export interface GrowthTexts {
  /** What the passages are, for the report. */
  source: string;
  passages: EmbeddedText[];
  queries: EmbeddedText[];
}

/** A reproducible number in [0, 1). */
export function draw(seed: number): number {
  let mixed = Math.imul(seed ^ (seed >>> 16), 0x45d9f3b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
}

/**
 * Passages of SQuAD, where the test data is there, and of the manuals of this machine (else of this project's pages), mixed; as
 * many as `most` chunks need. The queries are questions of SQuAD and short sentences of the passages.
 */
export async function readGrowthTexts(most: number): Promise<GrowthTexts> {
  const { source, texts, queries } = readTexts();
  const passages = texts.slice(0, Math.min(most, maxEmbedded));
  const embedded = await embedAll([...queries, ...passages]);
  return { source, queries: embedded.slice(0, queries.length), passages: embedded.slice(queries.length) };
}

function readTexts(): { source: string; texts: string[]; queries: string[] } {
  const squad = loadDatasets().find(({ name }) => name === 'SQuAD');
  const pages = readManuals();
  const others = (pages.length > 0 ? pages : readPages()).flatMap(passagesOf);
  const texts = shuffled([...new Set([...(squad?.passages ?? []), ...others])]);
  const sentences = shuffled(texts.flatMap(shortSentences)).slice(0, queriesOfKind);
  const questions = squad
    ? sampleQuestions(squad, 'reported', queriesOfKind).map(({ text }) => text)
    : sentences;
  const kinds = `${squad ? 'SQuAD and of ' : ''}${pages.length > 0 ? 'the manuals of Debian' : 'this project’s pages'}`;
  return {
    source: `${kinds} (${texts.length.toLocaleString('en')} passages of at most about ${passageWords} words)`,
    texts,
    queries: [...new Set([...questions, ...sentences])],
  };
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item, index) => ({ item, order: draw(index + 1) }))
    .sort((left, right) => left.order - right.order)
    .map(({ item }) => item);
}

function shortSentences(text: string): string[] {
  return text.split(/(?<=[.?!])\s+/).filter((sentence) => {
    const { length } = sentence.split(' ');
    return length >= 6 && length <= 14 && /^[A-Z].*[.?!]$/.test(sentence);
  });
}

/** Paragraphs packed to about {@link passageWords} words. */
function passagesOf(paragraphs: readonly string[]): string[] {
  const passages: string[] = [];
  let words: string[] = [];
  for (const paragraph of paragraphs) {
    words.push(...paragraph.split(/\s+/).filter(Boolean));
    while (words.length >= passageWords) passages.push(words.splice(0, passageWords).join(' '));
  }
  if (words.length >= minWords) passages.push(words.join(' '));
  return passages;
}

function readPages(): string[][] {
  return ['docs', 'docs/design'].flatMap((folder) =>
    readdirSync(join(projectRoot, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => readFileSync(join(projectRoot, folder, name), 'utf8').split('\n\n')),
  );
}

/** Paragraphs of the installed manuals, a list for each page; a paragraph that pages share is in the first of them. */
function readManuals(): string[][] {
  const seen = new Set<string>();
  const sections = existsSync(manuals) ? readdirSync(manuals).filter((name) => /^man\d$/.test(name)) : [];
  return sections.flatMap((section) =>
    readdirSync(join(manuals, section))
      .filter((name) => name.endsWith('.gz'))
      .map((name) =>
        paragraphsOfManual(gunzipSync(readFileSync(join(manuals, section, name))).toString('utf8')).filter(
          (paragraph) => !seen.has(paragraph) && seen.add(paragraph),
        ),
      ),
  );
}

const breaks = /^[.'](?:PP|P|LP|TP|IP|SH|SS|Sh|Ss|Pp|sp|It|HP)\b/;
/** Requests whose arguments are text. */
const texts = /^[.'](?:[BIR]{1,2}|SM|SB|Nm|Fl|Ar|Pa|Xr|Dq|Sq|Em|Sy)\s+(.*)$/;

function paragraphsOfManual(source: string): string[] {
  const paragraphs: string[][] = [[]];
  for (const line of source.split('\n')) {
    if (line.trim() === '' || breaks.test(line)) paragraphs.push([]);
    const text = /^[.']/.test(line) ? (texts.exec(line)?.[1] ?? '') : line;
    if (text) paragraphs.at(-1)!.push(plainText(text));
  }
  return paragraphs.map((lines) => lines.join(' ').replaceAll(/\s+/g, ' ').trim()).filter(Boolean);
}

/** Without the escapes of roff. */
function plainText(text: string): string {
  return text
    .replaceAll(/\\f(?:\[[^\]]*\]|\(..|.)/g, '')
    .replaceAll(/\\\(..|\\\[[^\]]*\]|\\[sm][-+]?\d+|\\[&|^%cep/~]/g, '')
    .replaceAll(/\\(.)/g, '$1')
    .replaceAll('"', '');
}

/** Vectors are kept in a file, because embedding takes minutes. */
async function embedAll(given: readonly string[]): Promise<EmbeddedText[]> {
  const hash = createHash('sha256').update(given.join('\n')).digest('hex').slice(0, 16);
  const path = join(benchFolder, `growth-${hash}.f32`);
  if (!existsSync(path)) {
    const computed = await computeVectors(given);
    mkdirSync(benchFolder, { recursive: true });
    writeFileSync(path, computed);
  }
  const bytes = readFileSync(path);
  const vectors = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const dimensions = vectors.length / given.length;
  return given.map((text, index) => ({
    text,
    vector: vectors.subarray(index * dimensions, (index + 1) * dimensions),
  }));
}

async function computeVectors(given: readonly string[]): Promise<Float32Array> {
  const embedder = await loadEmbedder(bundledModel('nano-embed'), {
    workers: 2,
    cacheDirectory: benchFolder,
  });
  const { dimensions } = embedder.info;
  const vectors = new Float32Array(given.length * dimensions);
  let next = 0;
  const work = async () => {
    while (next < given.length) {
      const first = next;
      next += 64;
      const result = await embedder.embed(given.slice(first, first + 64), { truncate: true });
      for (const [index, vector] of result.vectors.entries())
        vectors.set(vector, (first + index) * dimensions);
      if (first % 6_400 === 0) console.error(`${first} of ${given.length} texts embedded`);
    }
  };
  await Promise.all([work(), work()]);
  await embedder.close();
  return vectors;
}
