import {
  maxJudgedCharacters,
  MegaNestError,
  type GuardrailJudgement,
  type judge,
  type ParsedRequestOf,
  type ReplyOf,
} from '#platform/contracts';
import type { Classifier } from '#engine/encoders';
import { HealthRegistry, Metrics } from '#platform/service-kit';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { judgeScores } from './model/judge-scores.js';
import type { LabelRule } from './rules/compile-rules.js';
import { judgeText, withoutDisguise } from './rules/judge-text.js';
import { RuleFile } from './rules/rule-file.js';

/** Injection token of the loaded classifier; undefined without a configured classifier. */
export const classifierToken = Symbol('classifier');

/** Judges texts by the active rules, then by the classifier, for requests over HTTP and NATS. */
@Injectable()
export class GuardrailService implements OnApplicationShutdown {
  constructor(
    @Inject(RuleFile) private readonly file: RuleFile,
    @Inject(classifierToken) private readonly classifier: Classifier | undefined,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(HealthRegistry) health: HealthRegistry,
  ) {
    health.register('rules', () => Promise.resolve(describe(file)));
    if (!classifier) return;
    health.register('model', async (signal) => {
      await classifier.classify(['health'], { signal });
      return classifier.info.id;
    });
  }

  /** Errors: payload_too_large, overloaded, cancelled; of a remote classifier service_unavailable, bad_upstream. */
  judge({ texts, side }: ParsedRequestOf<typeof judge>, signal: AbortSignal): Promise<ReplyOf<typeof judge>> {
    refuseTooLong(texts);
    const { rules, labels, revision } = this.file.current;
    const applicable = rules.filter(({ appliesTo }) => appliesTo.includes(side));
    return this.metrics.measure('judge', async () => {
      const judged: GuardrailJudgement[] = [];
      for (const text of texts) {
        if (signal.aborted) throw new MegaNestError('cancelled');
        judged.push(await judgeText(text, applicable));
      }
      const asked = labels.filter(({ appliesTo }) => appliesTo.includes(side));
      if (!this.classifier || asked.length === 0) return { judgements: judged, revision };
      const { id, revision: weights } = this.classifier.info;
      const judgements = await this.classify(this.classifier, judged, asked, signal);
      return { judgements, revision, model: `${id}@${weights}` };
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.classifier?.close();
  }

  /** Classifies the texts that the rules have not blocked, with the redactions of the rules. */
  private async classify(
    classifier: Classifier,
    judged: readonly GuardrailJudgement[],
    labels: readonly LabelRule[],
    signal: AbortSignal,
  ): Promise<GuardrailJudgement[]> {
    const open = judged.filter(({ action, text }) => action !== 'block' && text.trim() !== '');
    const texts = open.map(({ text }) => withoutDisguise(text));
    const { scores, promptTokens } = await classifier.classify(texts, { signal });
    this.metrics.countTokens('prompt', promptTokens);
    const scored = new Map(open.map((judgement, index) => [judgement, scores[index] ?? []]));
    return judged.map((judgement) => {
      const own = scored.get(judgement);
      return own ? judgeScores(judgement, own, labels) : judgement;
    });
  }
}

function refuseTooLong(texts: readonly string[]): void {
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  if (characters <= maxJudgedCharacters) return;
  const limit = `${maxJudgedCharacters} characters`;
  throw new MegaNestError('payload_too_large', { what: 'The text to judge', limit, param: 'text' });
}

/** An invalid file does not make the service unhealthy, because the previous rules stay active. */
function describe({ current: { rules, labels, revision }, problem }: RuleFile): string {
  const inForce = `${rules.length + labels.length} rules in force (${revision})`;
  return problem === undefined ? inForce : `${inForce}; the current file is not in force: ${problem}`;
}
