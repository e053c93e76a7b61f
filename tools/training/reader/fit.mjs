/**
 * Fits the weights by which the reader's scores and the lexical evidence give one order and one probability, and the
 * thresholds for refused and unsure answers; writes them to fusion.json next to the model. passages.mjs writes the
 * passages. `--only outlined` keeps the file's weights for prose.
 * Usage: npm run build && node dist/fit-reader.js PASSAGES_DIR [models/nano-reader] [--only outlined] [--report NAME...]
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadReader } from '#encoders';
import {
  candidatesOf,
  evidenceNames,
  lexicalEvidence,
  readerEvidence,
} from '../../../apps/llm/src/reading/evidence.ts';
import { confidenceEvidence, regress, sigmoid } from '../../../apps/llm/src/reading/rank-sentences.ts';
import { mostRead, quotesFor, worth } from '../../../apps/llm/src/reading/rank-sentences.ts';
import { readPassages } from '../../../apps/llm/src/reading/sentence.ts';
import { holdsLiterally, holdsWords } from '../../../bench/grounding/judge.ts';
import { fitLogistic } from './logistic.mjs';

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { report: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const [folder, model = 'models/nano-reader', ...reported] = positionals;
if (!folder) {
  console.error(
    'Usage: node dist/fit-reader.js PASSAGES_DIR [MODEL_DIR] [--only outlined] [--report NAME...]',
  );
  process.exit(2);
}
const passagesRead = 5;
const settings = {
  /** 2.5% of the questions whose passages answer are refused, and 34% are refused or unsure. */
  prose: { ridge: 3, elsewhere: 0.5, shares: { answer: 0.025, sure: 0.34 } },
  /**
   * There are few questions: so the weights are kept smaller, and off-topic questions are detected by their
   * probability.
   */
  outlined: { ridge: 30, elsewhere: 1, thresholds: { answer: 0.07, doubtful: 0.5, sure: 0.6 } },
};
/**
 * The questions about handbooks differ more from the questions about this project than these differ from each other.
 */
const shareOfHandbooks = { order: 0.1, probability: 0.2 };
const reader = await loadReader(resolve(model), { workers: 2 });

const rows = (name) =>
  readFileSync(join(folder, `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
async function prepare(
  { question, answers, docs, documents },
  { withoutGold = false, holds = holdsWords, share = { order: 1, probability: 1 } } = {},
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
  return { evidence, scores, right, cited, share };
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

/** Returns the order by the fusion, and the evidence of the first passage. */
function ranked(rank, { evidence }) {
  const logits = evidence.map((values) => regress(rank, values));
  const best = order(logits);
  return { best, certainty: confidenceEvidence(evidence[best[0]], logits[best[0]], logits[best[1]]) };
}

/**
 * Returns the regressions of one kind of passages. `absent`: questions whose passages do not answer. `share`: the
 * weight of a question for the order, and for the probability.
 */
function fitJudgement(answerable, absent, { ridge, elsewhere, shares, thresholds }) {
  const rank = fitLogistic(
    answerable.flatMap(({ evidence }) => evidence),
    answerable.flatMap(({ right }) => right),
    { ridge, shares: answerable.flatMap(({ right, share }) => right.map(() => share.order)) },
  );
  const firsts = [...answerable, ...absent].map((row) => ({ ...ranked(rank, row), row }));
  const confidence = fitLogistic(
    firsts.map(({ certainty }) => certainty),
    firsts.map(({ best, row }) => row.right[best[0]]),
    { ridge, shares: firsts.map(({ row }) => row.share.probability) },
  );
  const answering = answerable
    .filter(({ right }) => right.some(Boolean))
    .map((row) => sigmoid(regress(confidence, ranked(rank, row).certainty)))
    .sort((a, b) => a - b);
  const at = (share) => answering[Math.floor(answering.length * share)];
  return {
    rank: round(rank),
    confidence: round(confidence),
    thresholds: thresholds ?? { answer: at(shares.answer), doubtful: 0, sure: at(shares.sure) },
    elsewhere,
  };
}

const round = ({ weights, bias }) => ({
  weights: weights.map((weight) => Number(weight.toPrecision(6))),
  bias: Number(bias.toPrecision(6)),
});
const literally = { holds: holdsLiterally };
const ofHandbooks = { ...literally, share: shareOfHandbooks };
const withoutGold = { withoutGold: true };
async function fitProse() {
  const prose = [...(await prepareAll('fit')), ...(await prepareAll('squad'))];
  const deleted = [...(await prepareAll('fit', withoutGold)), ...(await prepareAll('squad', withoutGold))];
  const off = await prepareAll('fit-off');
  const judgement = fitJudgement(prose, [...deleted, ...off], settings.prose);
  return { judgement, sets: { prose, 'prose, document deleted': deleted, 'prose, other documents': off } };
}
async function fitOutlined() {
  const outlined = [
    ...(await prepareAll('technical', literally)),
    ...(await prepareAll('handbooks', ofHandbooks)),
  ];
  const deleted = [
    ...(await prepareAll('technical', withoutGold)),
    ...(await prepareAll('handbooks', { ...ofHandbooks, ...withoutGold })),
  ];
  const off = await prepareAll('guides-off');
  const judgement = fitJudgement(outlined, [...deleted, ...off], settings.outlined);
  return {
    judgement,
    sets: { outlined, 'outlined, document deleted': deleted, 'outlined, other documents': off },
  };
}

const path = join(model, 'fusion.json');
const prose =
  flags.only === 'outlined'
    ? { judgement: JSON.parse(readFileSync(path, 'utf8')).prose, sets: {} }
    : await fitProse();
const outlined = await fitOutlined();
const fusion = { evidence: evidenceNames, prose: prose.judgement, outlined: outlined.judgement };
writeFileSync(path, `${JSON.stringify(fusion, undefined, 1)}\n`);

const percent = (list, test) => `${((100 * list.filter(test).length) / list.length).toFixed(1)}%`;
function report(name, list, { rank, confidence, thresholds }) {
  const answers = list.map((row) => {
    const { best, certainty } = ranked(rank, row);
    return { row, best, sure: sigmoid(regress(confidence, certainty)) };
  });
  const shown = ({ best, sure }) => best.slice(0, quotesFor(sure, thresholds));
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
for (const [kind, { sets }] of Object.entries({ prose, outlined }))
  for (const [name, list] of Object.entries(sets)) report(name, list, fusion[kind]);
for (const name of reported) {
  const isTechnical = name.startsWith('technical');
  const judgement = isTechnical || name.startsWith('guides') ? fusion.outlined : fusion.prose;
  const options = isTechnical ? literally : {};
  report(name, await prepareAll(name, options), judgement);
  if (!name.includes('off'))
    report(`${name}, document deleted`, await prepareAll(name, { ...options, withoutGold: true }), judgement);
}
await reader.close();
