/**
 * Writes what a running MegaNest finds for the questions that the fusion is fitted on: those of the last tenth of each file
 * of paragraphs, asked of their own paragraphs (fit.jsonl) and of documents about other things (fit-off.jsonl); those of the
 * half of SQUAD_FILE that is not reported on (squad.jsonl), asked of this project's pages too (guides-off.jsonl).
 * Usage: node tools/training/reader/passages.mjs GATEWAY_URL QA_DIR SQUAD_FILE OUT_DIR
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [gateway, qa, squad, out] = process.argv.slice(2);
if (!out) {
  console.error('Usage: node tools/training/reader/passages.mjs GATEWAY_URL QA_DIR SQUAD_FILE OUT_DIR');
  process.exit(2);
}
const sources = ['squadshifts-new-wiki', 'squad-train-paragraphs', 'covid-qa', 'policyqa'];
/** Of the questions of policies, which repeat over sites, one in so many. */
const thinned = { policyqa: 4 };
const filesAtOnce = 50;
const asksAtOnce = 4;

const lines = (path) =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

async function ingest(collection, texts, extension = 'txt') {
  for (let first = 0; first < texts.length; first += filesAtOnce) {
    const form = new FormData();
    form.append('collection', collection);
    texts.slice(first, first + filesAtOnce).forEach((text, index) => {
      form.append('files', new Blob([text]), `${collection}-${first + index}.${extension}`);
    });
    const answer = await fetch(`${gateway}/v1/dataprep/ingest`, { method: 'POST', body: form });
    if (!answer.ok) throw new Error(await answer.text());
    await answer.text();
  }
}

async function search(collection, questions, file) {
  const rows = [];
  let next = 0;
  const work = async () => {
    while (next < questions.length) {
      const index = next++;
      const body = JSON.stringify({ text: questions[index].question, top_n: 5, collection });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${gateway}/v1/retrievaltool`, { method: 'POST', headers, body });
      const found = await answer.json();
      if (!answer.ok) throw new Error(JSON.stringify(found));
      rows[index] = { ...questions[index], docs: found.reranked_docs };
    }
  };
  await Promise.all(Array.from({ length: asksAtOnce }, work));
  writeFileSync(join(out, file), `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`);
}

mkdirSync(out, { recursive: true });
const asked = sources.flatMap((source) => {
  const all = lines(join(qa, `${source}.jsonl`));
  const tail = all.slice(Math.ceil(all.length * 0.9));
  return tail.filter((_row, index) => index % (thinned[source] ?? 1) === 0);
});
const contexts = [...new Set(asked.map(({ context }) => context))];
const questions = asked.map(({ question, answers, context }) => ({
  question,
  answers,
  documents: [`reader-own-${contexts.indexOf(context)}.txt`],
}));
await ingest('reader-own', contexts);
await search('reader-own', questions, 'fit.jsonl');
const passages = lines(squad);
await ingest(
  'reader-other',
  passages.map(({ context }) => context),
);
const withoutAnswers = (question) => ({ ...question, answers: [] });
const others = questions.filter((_question, index) => index % 4 === 0);
await search('reader-other', others.map(withoutAnswers), 'fit-off.jsonl');

/** Evenly over the whole. */
const evenly = (items, count) =>
  items.filter(
    (_item, index) =>
      Math.floor((index * count) / items.length) !== Math.floor(((index - 1) * count) / items.length),
  );
const half = passages.flatMap(({ qas }, index) =>
  qas
    .filter((qa) => index % 2 === 0 && !qa.is_impossible)
    .map(({ question, answers }) => ({ question, answers, documents: [`reader-other-${index}.txt`] })),
);
await search('reader-other', evenly(half, 800), 'squad.jsonl');
await ingest(
  'reader-guides',
  ['README.md', 'docs/api.md', 'docs/configuration.md', 'docs/operations.md'].map((name) =>
    readFileSync(name, 'utf8'),
  ),
  'md',
);
await search('reader-guides', evenly(half, 300).map(withoutAnswers), 'guides-off.jsonl');
