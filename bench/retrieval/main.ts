/**
 * Measures the retrieval quality of every kind of search on public questions:
 * `npm run bench:retrieval -- [--all | --sample N] [--tune] [--write]`. `--tune` tries settings of hybrid on the other
 * half of the questions instead; `--write` writes the tables into docs/benchmarks.md.
 */
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { loadProfile } from '#platform/service-kit';
import { loadEmbedder, loadReranker, type Embedder } from '#engine/encoders';
import { openCorpusStore, type Corpus } from './corpus.js';
import { loadDatasets, sampleQuestions, type Dataset, type Question } from './datasets.js';
import { chatDefault, comparedMethods, type Method } from './methods.js';
import { median, qualityOf } from './quality.js';
import { writeSection } from '../harness/document.js';
import { formatTable, rankOf, type Row } from './report.js';
import { tuneHybrid } from './tune.js';

const { values: flags } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    sample: { type: 'string', default: '1000' },
    tune: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const half = flags.tune ? 'tuning' : 'reported';
const size = flags.all ? Number.POSITIVE_INFINITY : Number(flags.sample);

async function measure(
  method: Method,
  corpus: Corpus,
  questions: Question[],
  vectors: Float32Array[],
): Promise<Row> {
  const ranks: (number | undefined)[] = [];
  const latencies: number[] = [];
  for (const [index, question] of questions.entries()) {
    const startedAt = performance.now();
    const hits = await method.rank(corpus, question.text, vectors[index] ?? new Float32Array());
    latencies.push(performance.now() - startedAt);
    ranks.push(rankOf(hits, question));
  }
  const medianMs = method.timed === false ? undefined : median(latencies);
  return { method: method.name, ...qualityOf(ranks), medianMs };
}

async function measureAll(
  corpus: Corpus,
  questions: Question[],
  vectors: Float32Array[],
  methods: Method[],
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const method of methods) {
    rows.push(await measure(method, corpus, questions, vectors));
    console.error(`${method.name}: MRR@10 ${rows.at(-1)?.meanReciprocalRank.toFixed(4)}`);
  }
  return rows;
}

async function reportOn(
  dataset: Dataset,
  corpus: Corpus,
  embedder: Embedder,
  methods: Method[],
): Promise<string> {
  const questions = sampleQuestions(dataset, half, size);
  const { vectors } = await embedder.embed(
    questions.map(({ text }) => text),
    { truncate: true },
  );
  const rows = flags.tune
    ? await tuneHybrid(corpus, questions, vectors)
    : await measureAll(corpus, questions, vectors, methods);
  const facts =
    `${dataset.name}: ${dataset.description}. ${dataset.passages.length} passages in ${corpus.chunkCount} chunks of ` +
    `${corpus.chunkWords.toFixed(0)} words on average, ${questions.length} questions of the ${half} half.`;
  return `### ${dataset.name}\n\n${facts}\n\n${formatTable(rows)}\n\n${conclusion(rows)}`;
}

function conclusion(rows: readonly Row[]): string {
  const best = rows.reduce((left, right) =>
    right.meanReciprocalRank > left.meanReciprocalRank ? right : left,
  );
  const chat = rows.find(({ method }) => method.endsWith(chatDefault));
  const distance = chat && chat !== best ? ` Chat’s default stays ${points(best, chat)} points below.` : '';
  return `Best by MRR@10: ${best.method}.${distance}`;
}

function points(best: Row, other: Row): string {
  return ((best.meanReciprocalRank - other.meanReciprocalRank) * 100).toFixed(1);
}

const profile = loadProfile('bundled');
const datasets = loadDatasets();
if (datasets.length === 0) process.exit(0);
const [embedder, reranker] = await Promise.all([
  loadEmbedder(profile.embedding.model),
  loadReranker(profile.reranking.model),
]);
const corpora = await openCorpusStore(embedder, profile.chunking);
const sections: string[] = [];
for (const dataset of datasets) {
  const corpus = await corpora.load(dataset);
  const methods = comparedMethods(profile, reranker);
  sections.push(await reportOn(dataset, corpus, embedder, methods));
}
await corpora.close();
await Promise.all([embedder.close(), reranker.close()]);
const report = [introduction(), ...sections].join('\n\n');
console.log(report);
if (flags.write && !flags.tune) writeSection('retrieval', 'npm run bench:retrieval', report);

function introduction(): string {
  const { retrieval, reranking, chunking } = profile;
  return `## Retrieval

How often the passage that answers a question comes first, among the first five, and the mean reciprocal rank of its first
chunk among ten: \`npm run bench:retrieval\`, on ${corpora.engine} with ${embedder.info.id} and ${reranker.info.id}, chunks of
at most ${chunking.chunkSize} words, \`fetch_k\` ${retrieval.fetch_k}. Settings were chosen on the other half of the questions, which
share no passage with these (docs/design/storage-and-search.md). Milliseconds are those of a search in a process that shares its
cores with the database. The default search of chat is the profile's \`${retrieval.search_type}\` with \`k\` ${retrieval.k}; its passages go through the
reranker with \`fusion: ${reranking.fusion}\`. Load of the machine: ${loadavg()[0]!.toFixed(0)}.`;
}
