/** `closed`: calls pass; `open`: calls avoid it; `half-open`: one call tries it. */
type BreakerState = 'closed' | 'open' | 'half-open';

/** When a circuit breaker opens, and for how long. */
export interface BreakerOptions {
  /** Consecutive failures that open it. Default 3. */
  readonly maxFailures?: number;
  /** Share of failures among the last {@link windowSize} calls that opens it, 0 to 1. Default 0.5. */
  readonly maxFailureShare?: number;
  /** Milliseconds until the first trial; each failed trial doubles them. Default 1,000. */
  readonly pauseMs?: number;
  /** Maximum of the doubled time. Default 30,000. */
  readonly maxPauseMs?: number;
  /** Clock in milliseconds. */
  readonly now?: () => number;
}

/** Number of the last calls for the share of failures. */
const windowSize = 20;

/** Counts the failures of a server, so that calls go elsewhere while it is broken. It refuses nothing itself. */
export class CircuitBreaker {
  /** The last outcomes, oldest first; true: a failure. */
  #window: boolean[] = [];
  #consecutive = 0;
  #openUntil: number | undefined;
  #pauseMs = 0;
  /** Start of the trial under way. */
  #triedAt: number | undefined;
  /** How often it has opened. */
  openings = 0;

  constructor(private readonly options: BreakerOptions = {}) {}

  get state(): BreakerState {
    if (this.#openUntil === undefined) return 'closed';
    return this.#now() < this.#openUntil ? 'open' : 'half-open';
  }

  /** True if a call may go here: it is closed, or half-open without a trial that has just begun. */
  get passes(): boolean {
    const { state } = this;
    if (state !== 'half-open') return state === 'closed';
    return this.#triedAt === undefined || this.#now() - this.#triedAt >= this.#pauseMs;
  }

  /** A call begins. */
  begin(): void {
    if (this.state === 'half-open') this.#triedAt = this.#now();
  }

  /** A call succeeded. */
  succeed(): void {
    this.#note(false);
    this.#consecutive = 0;
    if (this.#openUntil === undefined) return;
    this.#window = [];
    this.#openUntil = undefined;
    this.#pauseMs = 0;
    this.#triedAt = undefined;
  }

  /** A call failed by the fault of the server. */
  fail(): void {
    this.#note(true);
    this.#consecutive += 1;
    if (this.#openUntil !== undefined) {
      if (this.state === 'half-open') this.open();
      return;
    }
    const { maxFailures = 3, maxFailureShare = 0.5 } = this.options;
    const failures = this.#window.filter(Boolean).length;
    const isOften = this.#window.length >= windowSize && failures / this.#window.length >= maxFailureShare;
    if (this.#consecutive >= maxFailures || isOften) this.open();
  }

  /** A call ended without a verdict: its caller left, or the request was wrong. */
  leave(): void {
    this.#triedAt = undefined;
  }

  /** Opens it now, for twice as long as the last time. */
  open(): void {
    const { pauseMs = 1_000, maxPauseMs = 30_000 } = this.options;
    this.#pauseMs = Math.min(maxPauseMs, this.#pauseMs === 0 ? pauseMs : this.#pauseMs * 2);
    this.#openUntil = this.#now() + this.#pauseMs;
    this.#triedAt = undefined;
    this.openings += 1;
  }

  #note(isFailure: boolean): void {
    this.#window.push(isFailure);
    if (this.#window.length > windowSize) this.#window.shift();
  }

  #now(): number {
    return (this.options.now ?? (() => performance.now()))();
  }
}
