/**
 * What the answer check makes of the bundled model's answers: `npm run build && node dist/bench-grounding.js
 * [--limit N]`. The same generation is scored as the model says it and as the service shows it; the prompt is the
 * profile's.
 */
import { parseArgs } from 'node:util';
import { loadProfile } from '#service-kit';
import { loadGenerator, type Generator } from '#generation';
import { buildGroundedPrompt, QuoteCheck } from '../../apps/llm/src/grounding/index.js';
import { loadCases, type GroundingCase } from './cases.js';
import { normal, qualityOf, type Answered, type Quality } from './quality.js';

const { values: flags } = parseArgs({ options: { limit: { type: 'string', default: '500' } } });
const { llm } = loadProfile('bundled');
/** The passages of the datasets are short already; all of them are to be seen. */
const settings = { ...llm.grounding, maxPassages: 10, maxContextWords: 2000 };

async function answer(
  generator: Generator,
  given: GroundingCase,
): Promise<Record<'model' | 'check', Answered>> {
  const documents = given.passages.map((text, index) => ({
    id: String(index),
    text,
    score: 0,
    metadata: {},
  }));
  const messages = [{ role: 'user' as const, content: given.question }];
  const prompt = buildGroundedPrompt({ messages, documents }, settings);
  const { passages, question } = prompt;
  const check = new QuoteCheck({ passages, question, noAnswer: settings.noAnswer, stops: [] });
  const model: Answered = { given, text: '', tokens: 0 };
  const checked: Answered = { given, text: '', tokens: 0 };
  let settled = false;
  const request = {
    messages: prompt.messages,
    parameters: { ...llm.parameters, ...llm.grounding.parameters, max_tokens: 200 },
  };
  for await (const event of generator.generate(request)) {
    model.text += event.text;
    model.tokens += event.tokenIds.length;
    if (settled) continue;
    const piece = check.push(event);
    checked.text += piece.text;
    checked.tokens += event.tokenIds.length;
    settled = piece.finishReason !== undefined;
  }
  return { model: { ...model, text: normal(model.text) }, check: checked };
}

const percent = (value: number | undefined) => (value === undefined ? '–' : (value * 100).toFixed(1));

function row(name: string, { right, cited, verbatim, refused, admitted, tokens }: Quality): string {
  const shares = [right, cited, verbatim, refused, admitted].map(percent);
  return `| ${[name, ...shares, tokens.toFixed(1)].join(' | ')} |`;
}

const generator = await loadGenerator(llm.model);
for (const { name, cases } of loadCases(Number(flags.limit))) {
  const answers: Awaited<ReturnType<typeof answer>>[] = [];
  for (const given of cases) answers.push(await answer(generator, given));
  console.log(`\n${name}, ${cases.length} cases\n`);
  console.log('| answer | right % | right passage % | verbatim % | refused % | admitted % | tokens |');
  console.log('| --- | --- | --- | --- | --- | --- | --- |');
  const quality = (kind: 'model' | 'check') =>
    qualityOf(
      answers.map((both) => both[kind]),
      settings.noAnswer,
    );
  console.log(row('as the model says it', quality('model')));
  console.log(row('as the service shows it', quality('check')));
}
await generator.close();
