import type { OutputLine } from '#platform/local-stack';
import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface LogOptions {
  directory: string;
  /** Limit for the size of a log file, in bytes. */
  maxBytes: number;
  /** Number of older files to keep for each child. */
  keep: number;
}

/**
 * Returns a function for the output lines of a child. It writes all lines to `<directory>/<name>.log`, and warnings and
 * errors also to the console, after the name of the child.
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

/** Number of the level "warn" in pino. */
const warnLevel = 40;

interface LogEntry {
  level?: number | string;
  msg?: string;
  err?: { message?: string };
  error?: string;
}

function parseEntry(text: string): LogEntry | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as LogEntry;
  } catch {
    return undefined;
  }
}

function isSevere(level: LogEntry['level']): boolean {
  return typeof level === 'number'
    ? level >= warnLevel
    : level === 'warn' || level === 'error' || level === 'fatal';
}

function describeEntry(entry: LogEntry): string {
  const cause = entry.err?.message ?? entry.error;
  return [entry.msg, cause === entry.msg ? undefined : cause].filter(Boolean).join(': ');
}

/**
 * Selects the lines for the console: warnings and errors of JSON logs and of nats-server, and other lines on standard
 * error. Undefined for a line that goes to the log file only.
 */
export function selectForConsole(line: OutputLine): string | undefined {
  const entry = parseEntry(line.text);
  if (entry) return isSevere(entry.level) ? describeEntry(entry) : undefined;
  // nats-server writes everything to standard error: "[pid] date time [INF] text".
  const level = /^\[\d+\] \S+ \S+ \[(\w{3})\] /.exec(line.text)?.[1];
  if (level !== undefined) return ['WRN', 'ERR', 'FTL'].includes(level) ? line.text : undefined;
  return line.stream === 'stderr' && line.text.trim() !== '' ? line.text : undefined;
}

export interface RotatingFileOptions {
  path: string;
  /** Limit for the size of the file. A full file is renamed to `<path>.1`, which is renamed to `<path>.2`. */
  maxBytes: number;
  /** Number of older files to keep. */
  keep: number;
  /** Called once when lines are lost, and once when writing works again. */
  onTrouble(message: string): void;
}

/** Limit for the lines that wait for the end of the turn, so that they do not fill the memory. */
const maxWaiting = 10_000;

/**
 * Appends lines to a file of limited size. All lines of one turn of the event loop are one write. If a write fails, for
 * example because the disk is full, its lines are lost. The next write is tried again.
 */
export class RotatingFile {
  #waiting: string[] = [];
  #lost = 0;

  constructor(private readonly options: RotatingFileOptions) {}

  /** Never throws. */
  append(line: string): void {
    if (this.#waiting.length >= maxWaiting) this.#flush();
    if (this.#waiting.length === 0) setImmediate(() => this.#flush());
    this.#waiting.push(line);
  }

  #flush(): void {
    const lines = this.#waiting;
    this.#waiting = [];
    if (lines.length === 0) return;
    try {
      this.#write(`${lines.join('\n')}\n`);
      this.#recover();
    } catch (error) {
      this.#lose(lines.length, error as Error);
    }
  }

  #write(text: string): void {
    const { path, maxBytes } = this.options;
    const size = existsSync(path) ? statSync(path).size : 0;
    if (size > 0 && size + Buffer.byteLength(text) > maxBytes) this.#rotate();
    appendFileSync(path, text, { mode: 0o600 });
  }

  #rotate(): void {
    const { path, keep } = this.options;
    if (keep === 0) return rmSync(path);
    for (let age = keep; age > 1; age -= 1)
      if (existsSync(`${path}.${age - 1}`)) renameSync(`${path}.${age - 1}`, `${path}.${age}`);
    renameSync(path, `${path}.1`);
  }

  #lose(count: number, { message }: Error): void {
    if (this.#lost === 0)
      this.options.onTrouble(`${this.options.path} cannot be written: ${message}. Its lines are lost.`);
    this.#lost += count;
  }

  #recover(): void {
    if (this.#lost === 0) return;
    const message = `${this.options.path} can be written again; ${this.#lost} lines were lost.`;
    this.#lost = 0;
    this.options.onTrouble(message);
    this.append(message);
  }
}
