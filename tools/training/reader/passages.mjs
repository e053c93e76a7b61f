/**
 * Writes the search results for the questions on which the fusion is fitted: the questions of the last tenth of each
 * file of paragraphs, searched in their own paragraphs (fit.jsonl) and in unrelated documents (fit-off.jsonl); the
 * questions of the tuning half of SQUAD_FILE (squad.jsonl), also searched in this project's pages (guides-off.jsonl);
 * the tuning half of the technical questions (technical.jsonl), and questions about other handbooks (handbooks.jsonl).
 * `--report` adds questions for reports only: 1,000 of the other half of SQUAD_FILE (squad-reported.jsonl), 300 of them
 * searched in this project's pages (guides-reported-off.jsonl), and the other half of the technical questions
 * (technical-reported.jsonl). It ingests and searches like the services, in this process; existing files are kept.
 * Usage: npm run build && node dist/passages-reader.js QA_DIR SQUAD_FILE OUT_DIR [--report] [--only outlined]
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { technicalDocuments, technicalQuestions } from '../../../bench/grounding/technical.ts';
import { handbooks } from './handbooks.mjs';
import { openSearch } from './search.mjs';

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { report: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const [qa, squad, out] = positionals;
if (!out) {
  console.error('Usage: node dist/passages-reader.js QA_DIR SQUAD_FILE OUT_DIR [--report] [--only outlined]');
  process.exit(2);
}
const sources = ['squadshifts-new-wiki', 'squad-train-paragraphs', 'covid-qa', 'policyqa'];
/** One in this many questions about policies is used, since they repeat over sites. */
const thinned = { policyqa: 4 };

const lines = (path) =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
/** Takes elements at even distances. */
const evenly = (items, count) =>
  items.filter(
    (_item, index) =>
      Math.floor((index * count) / items.length) !== Math.floor(((index - 1) * count) / items.length),
  );
const withoutAnswers = (question) => ({ ...question, answers: [] });
const named = (collection, texts) =>
  texts.map((text, index) => ({ name: `${collection}-${index}.txt`, text }));

mkdirSync(out, { recursive: true });
const engine = await openSearch();

/** Returns the search results of questions, without the embeddings. */
async function found(collection, questions) {
  const rows = [];
  for (const question of questions) {
    const docs = await engine.search(collection, question.question);
    rows.push({ ...question, docs: docs.map(({ embedding: _embedding, ...document }) => document) });
  }
  return rows;
}

async function search(collection, questions, file) {
  if (existsSync(join(out, file))) return;
  write(file, await found(collection, questions));
}

function write(file, rows) {
  writeFileSync(join(out, file), `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`);
  console.log(`${file}: ${rows.length} questions`);
}

async function technical() {
  const { documents, missing } = technicalDocuments();
  if (missing.length > 0) throw new Error(`These manuals are not installed: ${missing.join(', ')}`);
  await engine.ingest('technical', documents);
  const questions = technicalQuestions(documents.map(({ name }) => name));
  const half = (rest) => questions.filter((_question, index) => index % 2 === rest);
  await search('technical', half(0), 'technical.jsonl');
  if (flags.report) await search('technical', half(1), 'technical-reported.jsonl');
}

/** Questions about handbooks, each searched in the handbooks of its kind. */
async function outlined() {
  if (existsSync(join(out, 'handbooks.jsonl'))) return;
  const rows = [];
  for (const { name, files, questions } of handbooks()) {
    await engine.ingest(name, files);
    rows.push(...(await found(name, questions)));
  }
  write('handbooks.jsonl', rows);
}

async function prose() {
  const asked = sources.flatMap((source) => {
    const all = lines(join(qa, `${source}.jsonl`));
    const tail = all.slice(Math.ceil(all.length * 0.9));
    return tail.filter((_row, index) => index % (thinned[source] ?? 1) === 0);
  });
  const contexts = [...new Set(asked.map(({ context }) => context))];
  const questions = asked.map(({ question, answers, context }) => ({
    question,
    answers,
    documents: [`own-${contexts.indexOf(context)}.txt`],
  }));
  const passages = lines(squad);
  const half = (rest) =>
    passages.flatMap(({ qas }, index) =>
      qas
        .filter((each) => index % 2 === rest && !each.is_impossible)
        .map(({ question, answers }) => ({ question, answers, documents: [`squad-${index}.txt`] })),
    );
  const guides = ['README.md', 'docs/api.md', 'docs/configuration.md', 'docs/operations.md'];
  await engine.ingest(
    'guides',
    guides.map((name) => ({ name, text: readFileSync(name, 'utf8') })),
  );
  await search('guides', evenly(half(0), 300).map(withoutAnswers), 'guides-off.jsonl');
  if (flags.report)
    await search('guides', evenly(half(1), 300).map(withoutAnswers), 'guides-reported-off.jsonl');
  await engine.ingest(
    'squad',
    named(
      'squad',
      passages.map(({ context }) => context),
    ),
  );
  await search('squad', evenly(half(0), 800), 'squad.jsonl');
  if (flags.report) await search('squad', evenly(half(1), 1000), 'squad-reported.jsonl');
  const others = questions.filter((_question, index) => index % 4 === 0);
  await search('squad', others.map(withoutAnswers), 'fit-off.jsonl');
  await engine.ingest('own', named('own', contexts));
  await search('own', questions, 'fit.jsonl');
}

try {
  await technical();
  await outlined();
  if (flags.only !== 'outlined') await prose();
} finally {
  await engine.close();
}
