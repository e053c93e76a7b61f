import type { Readable } from 'node:stream';
import { createInterface } from 'node:readline';

/** One line that a child process printed. */
export interface OutputLine {
  stream: 'stdout' | 'stderr';
  text: string;
}

/** Calls back with every complete line of a stream, without its line end. */
export function readLines(stream: Readable, onText: (text: string) => void): void {
  createInterface({ input: stream, crlfDelay: Infinity }).on('line', onText);
}
