import { createWriteStream, existsSync, mkdirSync, renameSync, statSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import type { OutputLine } from '#local-stack';
import { selectForConsole } from './console-line.js';

const rotateAtBytes = 10 * 1024 * 1024;

/** Opens a log file for appending; one that has grown large makes room, once, at start. */
function openLog(path: string): WriteStream {
  if (existsSync(path) && statSync(path).size > rotateAtBytes) renameSync(path, `${path}.1`);
  return createWriteStream(path, { flags: 'a' });
}

/**
 * Where a child's output goes: all of it into `<directory>/<name>.log`, warnings and errors also to the console with the
 * child's name before each.
 */
export function createLineSink(directory: string, name: string): (line: OutputLine) => void {
  mkdirSync(directory, { recursive: true });
  const file = openLog(join(directory, `${name}.log`));
  return (line) => {
    file.write(`${line.text}\n`);
    const shown = selectForConsole(line);
    if (shown !== undefined) console.error(`${name.padEnd(11)}| ${shown}`);
  };
}
