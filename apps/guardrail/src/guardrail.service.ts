import {
  maxJudgedCharacters,
  MegaNestError,
  type GuardrailJudgement,
  type judge,
  type ParsedRequestOf,
  type ReplyOf,
} from '#contracts';
import { HealthRegistry, Metrics } from '#service-kit';
import { Inject, Injectable } from '@nestjs/common';
import { judgeText } from './rules/judge-text.js';
import { RuleFile } from './rules/rule-file.js';

/** Judges texts by the rules in force; both the HTTP and the NATS side go through it. */
@Injectable()
export class GuardrailService {
  constructor(
    @Inject(RuleFile) private readonly file: RuleFile,
    @Inject(Metrics) private readonly metrics: Metrics,
    @Inject(HealthRegistry) health: HealthRegistry,
  ) {
    health.register('rules', () => Promise.resolve(describe(file)));
  }

  /** Errors: payload_too_large, cancelled. */
  judge({ texts, side }: ParsedRequestOf<typeof judge>, signal: AbortSignal): Promise<ReplyOf<typeof judge>> {
    refuseTooLong(texts);
    const { rules, revision } = this.file.current;
    const applicable = rules.filter(({ appliesTo }) => appliesTo.includes(side));
    return this.metrics.measure('judge', async () => {
      const judgements: GuardrailJudgement[] = [];
      for (const text of texts) {
        if (signal.aborted) throw new MegaNestError('cancelled');
        judgements.push(await judgeText(text, applicable));
      }
      return { judgements, revision };
    });
  }
}

function refuseTooLong(texts: readonly string[]): void {
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  if (characters <= maxJudgedCharacters) return;
  const limit = `${maxJudgedCharacters} characters`;
  throw new MegaNestError('payload_too_large', { what: 'The text to judge', limit, param: 'text' });
}

/** A file that broke does not make the service unhealthy: the rules of before are in force. */
function describe({ current: { rules, revision }, problem }: RuleFile): string {
  const inForce = `${rules.length} rules in force (${revision})`;
  return problem === undefined ? inForce : `${inForce}; the file as it is now is not: ${problem}`;
}
