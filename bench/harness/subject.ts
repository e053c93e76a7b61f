/** Options of the command line for every subject. */
export interface BenchOptions {
  /** Threads of each contender. */
  readonly threads: number;
  /** Turns of each contender; the medians count. */
  readonly rounds: number;
  /** Requests of the soak. */
  readonly requests: number;
  /** Size of the large text. */
  readonly megabytes: number;
}

/** A benchmark. */
export interface Subject {
  /**
   * Measures; returns its section of docs/benchmarks.md in Markdown, beginning with a heading of the second level.
   */
  run(options: BenchOptions): Promise<string>;
}
