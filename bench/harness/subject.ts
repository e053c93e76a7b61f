/** Options of the command line for every subject. */
export interface BenchOptions {
  /** Number of threads of each contender. */
  readonly threads: number;
  /** Number of turns of each contender; results are medians. */
  readonly rounds: number;
  /** Number of requests of the soak test. */
  readonly requests: number;
  /** Which questions about documents are asked: those to tune on, those that are looked at once, or both. */
  readonly half: 'tune' | 'held' | 'both';
  /** Only questions about this kind of document. */
  readonly only?: string;
  /** All documents are in one collection; otherwise each kind has its own. */
  readonly together: boolean;
  /** A file for the answers to the questions to tune on, one JSON object a line. */
  readonly answers?: string;
  /** Another checkout of this project, which is built. */
  readonly against?: string;
}

/** A benchmark. */
export interface Subject {
  /**
   * Runs the benchmark; returns its section of docs/benchmarks.md in Markdown, beginning with a second-level heading.
   */
  run(options: BenchOptions): Promise<string>;
}
