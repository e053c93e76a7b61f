/**
 * Fits the weights by which the reader's scores and the lexical evidence give one order and one probability, and the
 * thresholds for refusals and for the closest passages; writes them to fusion.json next to the model. passages.mjs
 * writes the passages. `--only outlined` keeps the file's weights for prose, `--only confidence` keeps both orders and
 * fits the probabilities.
 * Usage: npm run build && node dist/fit-reader.js PASSAGES_DIR [models/nano-reader] [--only outlined|confidence] [NAME...]
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadReader } from '#engine/encoders';
import { blockOf } from '../../../libs/answers/extractive/src/answer-block.ts';
import {
  candidatesOf,
  evidenceNames,
  lexicalEvidence,
  readerEvidence,
} from '../../../libs/answers/extractive/src/evidence.ts';
import {
  answering,
  certaintyOf,
  confidenceEvidence,
  maxRead,
  regress,
  sigmoid,
  worth,
} from '../../../libs/answers/extractive/src/rank-sentences.ts';
import { readPassages } from '../../../libs/answers/extractive/src/sentence.ts';
import { holdsLiterally, holdsWords } from '../../../bench/grounding/judge.ts';
import { fitLogistic } from './logistic.mjs';

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' } },
});
const [folder, model = 'models/nano-reader', ...reported] = positionals;
if (!folder) {
  console.error(
    'Usage: node dist/fit-reader.js PASSAGES_DIR [MODEL_DIR] [--only outlined|confidence] [NAME...]',
  );
  process.exit(2);
}
const passagesRead = 5;
/** A block is shown from `near` on, below a refusal; from `closest` on, below a preface; and alone from `answer` on. */
const thresholds = { near: 0.03, closest: 0.07, answer: 0.25 };
const settings = {
  prose: { ridge: 3, elsewhere: 0.5, thresholds },
  /** There are few questions: so the weights are kept smaller. */
  outlined: { ridge: 30, elsewhere: 1, thresholds },
};
/**
 * The questions about handbooks differ more from the questions about this project than these differ from each other.
 */
const shareOfHandbooks = { order: 0.1, probability: 0.5 };
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
  const passages = readPassages(found);
  const all = answering(question, candidatesOf(question, passages));
  if (all.length === 0) return undefined;
  const words = lexicalEvidence(question, all);
  const chosen = order(words.map(worth)).slice(0, maxRead);
  const candidates = chosen.map((index) => all[index]);
  const { scores } = await reader.read(question, candidates);
  const read = readerEvidence(scores);
  const evidence = chosen.map((index, place) => [...words[index], ...read[place]]);
  const right = candidates.map(({ text }) => Number(!withoutGold && holds(text, answers)));
  const cited = candidates.map(({ sentence }) =>
    Number(documents.includes(found[sentence.passage - 1].metadata.filename)),
  );
  const blocks = candidates.map((each) => blockOf(each, passages[each.sentence.passage - 1], question));
  const shown = blocks.map(({ lead, text }) => Number(!withoutGold && holds(lead + text, answers)));
  return { evidence, right, shown, cited, share, blocks };
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
function fitJudgement(answerable, absent, { ridge, elsewhere, thresholds }, kept) {
  const fitRank = () =>
    fitLogistic(
      answerable.flatMap(({ evidence }) => evidence),
      answerable.flatMap(({ right }) => right),
      { ridge, shares: answerable.flatMap(({ right, share }) => right.map(() => share.order)) },
    );
  const rank = kept?.rank ?? round(fitRank());
  const firsts = [...answerable, ...absent].map((row) => ({ ...ranked(rank, row), row }));
  const confidence = fitLogistic(
    firsts.map(({ certainty }) => certainty),
    firsts.map(({ best, row }) => row.shown[best[0]]),
    { ridge, shares: firsts.map(({ row }) => row.share.probability) },
  );
  return { rank, confidence: round(confidence), thresholds, elsewhere };
}

const round = ({ weights, bias }) => ({
  weights: weights.map((weight) => Number(weight.toPrecision(6))),
  bias: Number(bias.toPrecision(6)),
});
const literally = { holds: holdsLiterally };
const ofHandbooks = { ...literally, share: shareOfHandbooks };
const withoutGold = { withoutGold: true };
/** Questions off the topic are easy, and there are many. */
const ofOthers = { share: { order: 0, probability: 0.3 } };
async function fitProse(kept) {
  const names = kept ? ['squad'] : ['fit', 'squad'];
  const sets = { prose: [], 'prose, document deleted': [], 'prose, other documents': [] };
  for (const name of names) {
    sets.prose.push(...(await prepareAll(name)));
    sets['prose, document deleted'].push(...(await prepareAll(name, withoutGold)));
  }
  sets['prose, other documents'] = await prepareAll(kept ? 'guides-off' : 'fit-off');
  const [prose, ...absent] = Object.values(sets);
  return { judgement: fitJudgement(prose, absent.flat(), settings.prose, kept), sets };
}
async function fitOutlined(kept) {
  const outlined = [
    ...(await prepareAll('technical', literally)),
    ...(await prepareAll('handbooks', ofHandbooks)),
  ];
  const deleted = [
    ...(await prepareAll('technical', withoutGold)),
    ...(await prepareAll('handbooks', { ...ofHandbooks, ...withoutGold })),
  ];
  const off = await prepareAll('guides-off', ofOthers);
  const judgement = fitJudgement(outlined, [...deleted, ...off], settings.outlined, kept);
  return {
    judgement,
    sets: { outlined, 'outlined, document deleted': deleted, 'outlined, other documents': off },
  };
}

const path = join(model, 'fusion.json');
const before = flags.only ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
const kept = (kind) => (flags.only === 'confidence' ? before[kind] : undefined);
const prose =
  flags.only === 'outlined' ? { judgement: before.prose, sets: {} } : await fitProse(kept('prose'));
const outlined = await fitOutlined(kept('outlined'));
const fusion = { evidence: evidenceNames, prose: prose.judgement, outlined: outlined.judgement };
writeFileSync(path, `${JSON.stringify(fusion, undefined, 1)}\n`);

const percent = (list, test) =>
  `${((100 * list.filter(test).length) / Math.max(1, list.length)).toFixed(1)}%`;
function report(name, list, { rank, confidence, thresholds }) {
  const answers = list.map((row) => {
    const { best, certainty } = ranked(rank, row);
    const sure = sigmoid(regress(confidence, certainty));
    return { row, best, state: certaintyOf(sure, thresholds), right: Boolean(row.shown[best[0]]) };
  });
  const of = (...states) => answers.filter(({ state }) => states.includes(state));
  const refused = of('near', 'none');
  const words = answers.reduce((sum, { row, best }) => sum + row.blocks[best[0]].text.split(/\s+/).length, 0);
  console.log(
    [
      `${name}: ${list.length} questions`,
      `in the passages ${percent(answers, ({ row }) => row.shown.some(Boolean))}`,
      `first sentence ${percent(answers, ({ row, best }) => row.right[best[0]])}`,
      `first block ${percent(answers, ({ right }) => right)} of ${(words / answers.length).toFixed(0)} words`,
      `first two ${percent(answers, ({ row, best }) => row.shown[best[0]] || secondBlock(row, best))}`,
      `right document ${percent(answers, ({ row, best }) => row.cited[best[0]])}`,
      `answer ${percent(answers, ({ state }) => state === 'answer')}, right ${percent(of('answer'), ({ right }) => right)}`,
      `closest ${percent(answers, ({ state }) => state === 'closest')}, right ${percent(of('closest'), ({ right }) => right)}`,
      `refused ${percent(answers, (each) => refused.includes(each))}, wrongly ${percent(refused, ({ right }) => right)}`,
    ].join(' | '),
  );
}
/** Whether the block of the next passage holds the answer. */
function secondBlock({ blocks, shown }, best) {
  const first = blocks[best[0]];
  const next = best.find((index) => blocks[index].passage !== first.passage);
  return next !== undefined && Boolean(shown[next]);
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
