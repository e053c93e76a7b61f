/**
 * Fits how the reader's scores and the lexical evidence become one order and one probability, and the thresholds of refusing
 * and of doubt; writes them as fusion.json beside the model. The passages are those of passages.mjs, and of
 * `node dist/bench-grounding.js --passages PASSAGES_DIR`.
 * Usage: npm run build && node dist/fit-reader.js PASSAGES_DIR [models/nano-reader] [--report NAME...]
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadReader } from '#encoders';
import {
  candidatesOf,
  evidenceNames,
  lexicalEvidence,
  readerEvidence,
} from '../../../apps/llm/src/reading/evidence.ts';
import { confidenceEvidence, regress, sigmoid } from '../../../apps/llm/src/reading/fusion.ts';
import { mostRead, worth } from '../../../apps/llm/src/reading/rank-sentences.ts';
import { readPassages } from '../../../apps/llm/src/reading/sentence.ts';
import { holdsLiterally, holdsWords } from '../../../bench/grounding/judge.ts';
import { fitLogistic } from './logistic.mjs';

const [folder, model = 'models/nano-reader', ...reported] = process.argv
  .slice(2)
  .filter((word) => word !== '--report');
if (!folder) {
  console.error('Usage: node dist/fit-reader.js PASSAGES_DIR [MODEL_DIR] [--report NAME...]');
  process.exit(2);
}
const passagesRead = 5;
/** Of the questions about prose whose passages answer: so many are refused, and so many are refused or unsure. */
const shares = { refused: 0.039, unsure: 0.35 };
/** Each of the few technical questions counts as so many. */
const technicalCopies = 5;
const reader = await loadReader(resolve(model), { workers: 2 });

const rows = (name) =>
  readFileSync(join(folder, `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
async function prepare(
  { question, answers, docs, documents },
  { withoutGold = false, holds = holdsWords } = {},
) {
  const found = docs
    .filter(({ metadata }) => !withoutGold || !documents.includes(metadata.filename))
    .slice(0, passagesRead);
  const all = candidatesOf(question, readPassages(found));
  if (all.length === 0) return undefined;
  const words = lexicalEvidence(question, all);
  const chosen = order(words.map(worth)).slice(0, mostRead);
  const candidates = chosen.map((index) => all[index]);
  const { scores } = await reader.read(question, candidates);
  const read = readerEvidence(scores);
  const evidence = chosen.map((index, place) => [...words[index], ...read[place]]);
  const right = candidates.map(({ text }) => Number(!withoutGold && holds(text, answers)));
  const cited = candidates.map(({ sentence }) =>
    Number(documents.includes(found[sentence.passage - 1].metadata.filename)),
  );
  return { evidence, scores, right, cited };
}

async function prepareAll(name, options) {
  const all = [];
  for (const row of rows(name)) {
    const prepared = await prepare(row, options);
    if (prepared) all.push(prepared);
  }
  return all;
}

const order = (values) =>
  values
    .map((value, index) => ({ value, index }))
    .sort((a, b) => b.value - a.value)
    .map(({ index }) => index);

/** The order by the fusion, and the evidence of its first. */
function ranked(rank, { evidence }) {
  const logits = evidence.map((values) => regress(rank, values));
  const best = order(logits);
  return { best, certainty: confidenceEvidence(evidence[best[0]], logits[best[0]], logits[best[1]]) };
}

const answerable = [...(await prepareAll('fit')), ...(await prepareAll('squad'))];
const deleted = [
  ...(await prepareAll('fit', { withoutGold: true })),
  ...(await prepareAll('squad', { withoutGold: true })),
];
const others = [...(await prepareAll('fit-off')), ...(await prepareAll('guides-off'))];
const repeated = (list) => Array.from({ length: technicalCopies }, () => list).flat();
const technical = repeated(await prepareAll('technical', { holds: holdsLiterally }));
const technicalDeleted = repeated(await prepareAll('technical', { withoutGold: true }));
const ranking = [...answerable, ...technical];
const rank = fitLogistic(
  ranking.flatMap(({ evidence }) => evidence),
  ranking.flatMap(({ right }) => right),
  { ridge: 3 },
);
const firsts = [...ranking, ...deleted, ...technicalDeleted, ...others].map((row) => ({
  ...ranked(rank, row),
  row,
}));
const confidence = fitLogistic(
  firsts.map(({ certainty }) => certainty),
  firsts.map(({ best, row }) => row.right[best[0]]),
  { ridge: 3 },
);
const confidenceOf = (row) => sigmoid(regress(confidence, ranked(rank, row).certainty));
const answering = answerable
  .filter(({ right }) => right.some(Boolean))
  .map(confidenceOf)
  .sort((a, b) => a - b);
const thresholds = {
  answer: answering[Math.floor(answering.length * shares.refused)],
  sure: answering[Math.floor(answering.length * shares.unsure)],
};
const round = ({ weights, bias }) => ({
  weights: weights.map((weight) => Number(weight.toPrecision(6))),
  bias: Number(bias.toPrecision(6)),
});
const fusion = { evidence: evidenceNames, rank: round(rank), confidence: round(confidence), thresholds };
writeFileSync(join(model, 'fusion.json'), `${JSON.stringify(fusion, undefined, 1)}\n`);

const percent = (list, test) => `${((100 * list.filter(test).length) / list.length).toFixed(1)}%`;
function report(name, list) {
  const answers = list.map((row) => ({ row, ...ranked(rank, row), sure: confidenceOf(row) }));
  const shown = ({ best, sure }) =>
    sure < thresholds.answer ? [] : best.slice(0, sure < thresholds.sure ? 2 : 1);
  const quotes =
    answers.reduce((sum, each) => sum + shown(each).length, 0) /
    answers.filter((each) => shown(each).length > 0).length;
  const first = (values) => percent(answers, ({ row }) => row.right[order(values(row))[0]]);
  console.log(
    [
      `${name}: ${list.length} questions`,
      `in the passages ${percent(answers, ({ row }) => row.right.some(Boolean))}`,
      `overlap ${first((row) => row.evidence.map(([overlap]) => overlap))}`,
      `reader ${first((row) => row.scores)}`,
      `fused ${percent(answers, ({ row, best }) => row.right[best[0]])}, best two ${percent(answers, ({ row, best }) => best.slice(0, 2).some((index) => row.right[index]))}`,
      `shown ${percent(answers, (each) => shown(each).some((index) => each.row.right[index]))} with ${quotes.toFixed(2)} quotes`,
      `right document ${percent(answers, (each) => shown(each).some((index) => each.row.cited[index]))}`,
      `refused ${percent(answers, ({ sure }) => sure < thresholds.answer)}`,
      `unsure ${percent(answers, ({ sure }) => sure >= thresholds.answer && sure < thresholds.sure)}`,
    ].join(' | '),
  );
}
report('fit', answerable);
report('fit, document deleted', deleted);
report('fit, other documents', others);
for (const name of reported) {
  const holds = name.startsWith('technical') ? holdsLiterally : holdsWords;
  const list = await prepareAll(name, { holds });
  report(name, list);
  if (!/off|impossible/.test(name))
    report(`${name}, document deleted`, await prepareAll(name, { holds, withoutGold: true }));
}
console.log(JSON.stringify(thresholds));
await reader.close();
