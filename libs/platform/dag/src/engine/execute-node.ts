import { MegaNestError } from '#platform/contracts';
import { retry } from '#platform/foundation';
import type { NodeDefinition, NodeTarget } from '../definition/types.js';
import { type AbortScope, sleep, startTimer } from './abort-scope.js';
import { type Production, type RunningAttempt, isRetryable } from './attempt.js';

/** A node to execute. */
export interface NodeExecution {
  node: NodeDefinition;
  /** Starts one attempt; `fallback` selects the fallback's parameters. */
  launch: (target: NodeTarget, fallback: boolean) => RunningAttempt;
  scope: AbortScope;
  /** The request's deadline in epoch milliseconds. */
  deadline: number | undefined;
}

/** Result of a node, and the call that produced it. */
export interface Executed {
  production: Production;
  from?: 'fallback' | 'hedge';
}

/**
 * Runs a node with its policies: retries with back-off, hedging, then the fallback. Rejects with the last error.
 */
export async function executeNode(execution: NodeExecution): Promise<Executed> {
  const { node, scope } = execution;
  try {
    return await executeTarget(execution, node.target, false);
  } catch (error) {
    if (!node.fallback || scope.aborted) throw error;
    const executed = await executeTarget(execution, node.fallback, true);
    return { ...executed, from: 'fallback' };
  }
}

async function executeTarget(execution: NodeExecution, target: NodeTarget, fallback: boolean) {
  const { node, scope, deadline } = execution;
  const launch = (): RunningAttempt => execution.launch(target, fallback);
  const { attempts, backoffMs } = node.retry;
  return retry(
    {
      isRetryable: (error, attempt) =>
        !scope.aborted && attempt < attempts && isRetryable(error) && !asksForLongPause(error),
      firstMs: backoffMs,
      maxMs: Infinity,
      until: deadline,
      sleep: (milliseconds) => sleep(milliseconds, scope),
    },
    () => attemptOnce(launch, node.hedgeAfterMs),
  );
}

/** A longer Retry-After is passed on to the caller instead of being waited out. */
const maxRetryAfterSeconds = 5;

function asksForLongPause(error: unknown): boolean {
  return error instanceof MegaNestError && (error.retryAfter ?? 0) > maxRetryAfterSeconds;
}

async function attemptOnce(
  launch: () => RunningAttempt,
  hedgeAfterMs: number | undefined,
): Promise<Executed> {
  if (hedgeAfterMs === undefined) return { production: await launch().production };
  return new Hedge(launch, hedgeAfterMs).outcome;
}

/**
 * Two attempts, of which the second starts if the first is slow. The first success wins, and the other attempt is
 * aborted.
 */
class Hedge {
  readonly outcome: Promise<Executed>;
  private readonly running = new Set<RunningAttempt>();
  private readonly stopTimer: () => void;
  private resolve: (executed: Executed) => void = () => {};
  private reject: (error: unknown) => void = () => {};
  private over = false;

  constructor(
    private readonly launch: () => RunningAttempt,
    hedgeAfterMs: number,
  ) {
    this.outcome = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.stopTimer = startTimer(hedgeAfterMs, () => this.start('hedge'));
    this.start();
  }

  private start(from?: 'hedge'): void {
    const attempt = this.launch();
    this.running.add(attempt);
    attempt.production.then(
      (production) => this.succeed(attempt, { production, from }),
      (error: unknown) => this.fail(attempt, error),
    );
  }

  private succeed(attempt: RunningAttempt, executed: Executed): void {
    if (this.over) {
      discard(executed.production);
      return;
    }
    this.finish(attempt);
    this.resolve(executed);
  }

  /** While the other attempt runs, only an error that it would also get is final. */
  private fail(attempt: RunningAttempt, error: unknown): void {
    this.running.delete(attempt);
    if (this.over || (this.running.size > 0 && isRetryable(error))) return;
    this.finish(attempt);
    this.reject(error);
  }

  private finish(decisive: RunningAttempt): void {
    this.over = true;
    this.stopTimer();
    this.running.delete(decisive);
    for (const loser of this.running) loser.abort(lostRace());
  }
}

function discard(production: Production): void {
  if (production.kind === 'stream') production.stream.discard(lostRace());
}

function lostRace(): MegaNestError {
  return new MegaNestError('cancelled', { cause: 'another attempt was faster' });
}
