/** Options of the command line for every subject. */
export interface BenchOptions {
  /** Number of threads of each contender. */
  readonly threads: number;
  /** Number of turns of each contender; results are medians. */
  readonly rounds: number;
  /** Number of requests of the soak test. */
  readonly requests: number;
  /** Size of the large text. */
  readonly megabytes: number;
}

/** A benchmark. */
export interface Subject {
  /**
   * Runs the benchmark; returns its section of docs/benchmarks.md in Markdown, beginning with a second-level heading.
   */
  run(options: BenchOptions): Promise<string>;
}
