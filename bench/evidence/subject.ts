/**
 * Measures what a language model gets to read: questions about documents of five kinds go through the gateway and the bundled
 * models to an engine that records each prompt.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { projectRoot } from '#platform/foundation';
import { createTemporaryDirectory, startService, startStack, type TestStack } from '#platform/testing';
import { ingest } from '../answers/ask.js';
import { halfOf } from '../answers/questions.js';
import { familySeconds } from '../harness/processes.js';
import type { BenchOptions, Subject } from '../harness/subject.js';
import { startEngine, type RecordingEngine } from './engine.js';
import { blocksOf, judge, type Block } from './judge.js';
import { readDocuments, readQuestions, titleOf, type Document, type EvidenceQuestion } from './questions.js';
import { report, type Measured, type Variant } from './report.js';

/** The collection that holds the documents of all kinds. */
const everything = 'all';
const variants: readonly Variant[] = [2048, 8192, 131_072].flatMap((window) => [
  { window, queries: false },
  { window, queries: true },
]);
/** The model of a variant, and its mega service. All variants have the same engine. */
const modelOf = ({ window, queries }: Variant) => `recorder-${window}${queries ? '-queries' : ''}`;
const megaServiceOf = (variant: Variant) => `chatqna-${modelOf(variant)}`;
/** Attempts for a step that a busy machine skipped, since the benchmark measures complete runs. */
const maxAttempts = 4;
const queryLimitMs = '10000';

interface Bench {
  readonly url: string;
  readonly engine: RecordingEngine;
  readonly titles: ReadonlyMap<string, string>;
  readonly isTogether: boolean;
}

interface Recorded extends Measured {
  readonly question: EvidenceQuestion;
  readonly blocks: readonly Block[];
}

/** Errors: no question is of that half and kind. */
function chosen({ half, only }: BenchOptions): EvidenceQuestion[] {
  const questions = readQuestions().filter(
    ({ id, kind }) => (half === 'both' || halfOf(id) === half) && (only === undefined || kind === only),
  );
  if (questions.length === 0) throw new Error(`No questions: --half ${half}, --only ${only ?? ''}`);
  return questions;
}

/** Writes `chatqna`, and a copy of it for the model of each variant. */
function writeMegaServices(folder: string): void {
  const text = readFileSync(join(projectRoot, 'megaservices', 'chatqna.yaml'), 'utf8');
  writeFileSync(join(folder, 'chatqna.yaml'), text);
  for (const variant of variants) {
    const name = megaServiceOf(variant);
    const definition = parse(text) as { nodes: { llm: { params?: object } } };
    const { llm } = definition.nodes;
    llm.params = { ...llm.params, model: modelOf(variant) };
    writeFileSync(join(folder, `${name}.yaml`), stringify({ ...definition, name, path: `/v1/${name}` }));
  }
}

/** Starts the services, with a language model service for each variant. The first one is that of the stack. */
async function start(engine: RecordingEngine): Promise<{ stack: TestStack; stop: () => Promise<void> }> {
  const [first, ...others] = variants.map((variant) => ({
    LLM_ENDPOINT: engine.url,
    LLM_MODEL_ID: modelOf(variant),
    LLM_SEARCH_QUERIES_TIMEOUT_MS: variant.queries ? queryLimitMs : '0',
  }));
  const megaServices = await createTemporaryDirectory();
  writeMegaServices(megaServices.path);
  const stack = await startStack({
    services: ['embedding', 'reranking', 'retrieval', 'dataprep', 'llm', 'gateway'],
    env: {
      RATE_LIMIT_PER_MINUTE: '0',
      REQUEST_TIMEOUT_MS: '120000',
      WEB_UI: 'false',
      MEGASERVICES_DIR: megaServices.path,
      ...first,
    },
  });
  const more = await Promise.all(others.map((env) => startService('llm', { ...stack.env, ...env })));
  const stop = async () => {
    for (const service of more) await service.stop();
    await stack.stop();
    await megaServices.remove();
  };
  return { stack, stop };
}

async function measure(bench: Bench, question: EvidenceQuestion, variant: Variant): Promise<Recorded> {
  const { url, engine, titles, isTogether } = bench;
  const last = question.turns.at(-1)!;
  const messages = question.turns.map((content, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content,
  }));
  const body = JSON.stringify({
    model: megaServiceOf(variant),
    messages,
    collection: isTogether ? everything : question.kind,
  });
  engine.queries = question.queries;
  for (let attempt = 1; ; attempt += 1) {
    engine.prompts.length = 0;
    const [cpuBefore, startedAt] = [familySeconds(), performance.now()];
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${question.id}: ${response.status} ${text}`);
    const degraded = response.headers.get('x-meganest-degraded') ?? '';
    if (degraded !== '' && attempt < maxAttempts) continue;
    const prompt = engine.prompts[0];
    if (!prompt) throw new Error(`${question.id}: the engine was not asked`);
    const blocks = blocksOf(prompt.messages, last);
    return {
      question,
      variant,
      blocks,
      verdict: judge(question, blocks, titles),
      milliseconds: prompt.at - startedAt,
      cpuMilliseconds: (familySeconds() - cpuBefore) * 1000,
    };
  }
}

async function ingestAll(
  url: string,
  documents: readonly Document[],
  kinds: ReadonlySet<string>,
  isTogether: boolean,
) {
  if (isTogether) return ingest(url, everything, [...documents]);
  for (const kind of kinds)
    await ingest(
      url,
      kind,
      documents.filter((document) => document.kind === kind),
    );
}

/** Writes the evidence of the tuned half; that of the held half is not shown to anyone. */
function writeEvidence(file: string, recorded: readonly Recorded[]): void {
  const lines = recorded
    .filter(({ question }) => halfOf(question.id) === 'tune')
    .map((each) => `${JSON.stringify(each)}\n`);
  writeFileSync(file, lines.join(''));
}

function legend(questions: number, documents: readonly Document[], { together }: BenchOptions): string {
  const words = documents.reduce((sum, { text }) => sum + text.split(/\s+/).length, 0);
  const where = together ? 'all in one collection' : 'a collection for each kind';
  return `${questions} questions about ${documents.length} documents of five kinds with ${Math.floor(words / 1000)},000 words, ${where}, before an engine that records
prompts and answers at once. Facts: questions whose facts are all in the numbered blocks of the right documents. Rows told: of these, the questions about many
rows of a table for which the label says which rows are shown. Tokens of the evidence (four characters each) and blocks: means. Milliseconds from the request to the
engine's receipt of the prompt; a real engine needs time for the queries. Processor time of all services for a whole request.`;
}

/** The evidence that a model behind the default profile gets. */
export const subject: Subject = {
  async run(options) {
    const questions = chosen(options);
    const documents = readDocuments();
    const titles = new Map(documents.flatMap((each) => [[each.name, titleOf(each) ?? each.name] as const]));
    const engine = await startEngine(
      Object.fromEntries(variants.map((variant) => [modelOf(variant), variant.window])),
    );
    const { stack, stop } = await start(engine);
    try {
      const { url } = stack.service('gateway');
      const kinds = new Set(questions.map(({ kind }) => kind));
      await ingestAll(url, documents, kinds, options.together);
      const bench: Bench = { url, engine, titles, isTogether: options.together };
      // The first request of a process is slow.
      for (const variant of variants) await measure(bench, questions[0]!, variant);
      const recorded: Recorded[] = [];
      for (const question of questions)
        for (const variant of variants) recorded.push(await measure(bench, question, variant));
      if (options.answers !== undefined) writeEvidence(options.answers, recorded);
      return `## Evidence for a language model\n\n${legend(questions.length, documents, options)}\n\n${report(recorded)}`;
    } finally {
      await stop().catch((error: unknown) => console.error(error));
      await engine.close();
    }
  },
};
