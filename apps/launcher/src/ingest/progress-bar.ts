/** A stream that lines are written to: standard output. */
export interface LineTarget {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

const width = 24;

/** A bar that is drawn again in place on a terminal; elsewhere each tenth is a line. */
export class ProgressBar {
  #shown = -1;
  #part = 0;

  constructor(
    private readonly target: LineTarget,
    private readonly total: number,
  ) {}

  /** `share`: of the file in work, from 0 to 1. */
  draw(done: number, share: number, label: string): void {
    // A batch that fails is sent again file by file; the bar does not go back.
    this.#part = Math.max(this.#part, this.total === 0 ? 1 : Math.min(1, (done + share) / this.total));
    const part = this.#part;
    if (this.target.isTTY) return this.#draw(part, done, label);
    const tenth = Math.floor(part * 10);
    if (tenth === this.#shown) return;
    this.#shown = tenth;
    this.target.write(`${tenth * 10} % (${done} of ${this.total})\n`);
  }

  /** A line above the bar. */
  say(line: string): void {
    this.target.write(this.target.isTTY ? `\r\u001B[K${line}\n` : `${line}\n`);
  }

  end(): void {
    if (this.target.isTTY) this.target.write('\r\u001B[K');
  }

  #draw(part: number, done: number, label: string): void {
    const bar = '#'.repeat(Math.floor(part * width)).padEnd(width, '.');
    const line = `[${bar}] ${done} of ${this.total}  ${label}`;
    this.target.write(`\r\u001B[K${line.slice(0, (this.target.columns ?? 80) - 1)}`);
  }
}
