import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { OutputLine } from '#local-stack';
import { selectForConsole } from './console-line.js';
import { RotatingFile } from './rotating-file.js';

export interface LogOptions {
  directory: string;
  /** Greatest size of a log file, in bytes. */
  maxBytes: number;
  /** How many older files of a child are kept. */
  keep: number;
}

/**
 * Where a child's output goes: all of it into `<directory>/<name>.log`, warnings and errors also to the console with the
 * child's name before each.
 */
export function createLineSink(options: LogOptions, name: string): (line: OutputLine) => void {
  const { directory, maxBytes, keep } = options;
  mkdirSync(directory, { recursive: true });
  const say = (text: string) => console.error(`${name.padEnd(11)}| ${text}`);
  const file = new RotatingFile({ path: join(directory, `${name}.log`), maxBytes, keep, onTrouble: say });
  return (line) => {
    file.append(line.text);
    const shown = selectForConsole(line);
    if (shown !== undefined) say(shown);
  };
}
