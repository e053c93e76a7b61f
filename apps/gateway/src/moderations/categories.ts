import type { GuardrailFinding, GuardrailJudgement } from '#platform/contracts';

/** The categories of OpenAI's moderations, with the rules and the labels of usual classifiers that mean them. */
const categories: readonly (readonly [name: string, means: RegExp])[] = [
  ['harassment', /harass|insult|toxic|bully|abus/i],
  ['harassment/threatening', /threat/i],
  ['hate', /hate|identity|racis|discriminat/i],
  ['hate/threatening', /hate.*threat/i],
  ['illicit', /weapon|illicit|illegal|drug|crime/i],
  ['illicit/violent', /weapon|terror|explosive/i],
  ['self-harm', /self[-_ ]?harm|suicid/i],
  ['self-harm/intent', /self[-_ ]?harm|suicid/i],
  ['self-harm/instructions', /self[-_ ]?harm|suicid/i],
  ['sexual', /sexual|obscen|nsfw|porn/i],
  ['sexual/minors', /minors|csam/i],
  ['violence', /violen|threat/i],
  ['violence/graphic', /gore|graphic/i],
];

interface Moderation {
  flagged: boolean;
  categories: Record<string, boolean>;
  category_scores: Record<string, number>;
  category_applied_input_types: Record<string, string[]>;
}

/**
 * A judgement of the guardrail as OpenAI's moderation. Each rule that applied is a category of its own, too. The score of
 * a rule is 1, that of a label the classifier's.
 */
export function toModeration({
  action,
  findings,
}: Pick<GuardrailJudgement, 'action' | 'findings'>): Moderation {
  const scores = new Map<string, number>(categories.map(([name]) => [name, 0]));
  for (const finding of findings) {
    const score = finding.score ?? 1;
    for (const name of [...categoriesOf(finding), finding.rule])
      scores.set(name, Math.max(scores.get(name) ?? 0, score));
  }
  const all = [...scores];
  return {
    flagged: action !== 'pass',
    categories: Object.fromEntries(all.map(([name, score]) => [name, score > 0])),
    category_scores: Object.fromEntries(all),
    category_applied_input_types: Object.fromEntries(
      all.map(([name, score]) => [name, score > 0 ? ['text'] : []]),
    ),
  };
}

function categoriesOf({ rule, label = '' }: GuardrailFinding): string[] {
  return categories.filter(([, means]) => means.test(rule) || means.test(label)).map(([name]) => name);
}
