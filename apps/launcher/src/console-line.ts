import type { OutputLine } from '#local-stack';

/** pino's number of the level "warn". */
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
 * What of a child's output a person at the console must see: warnings and errors of JSON logs and of nats-server, and
 * whatever else it writes to standard error. Undefined: it goes to the log file only.
 */
export function selectForConsole(line: OutputLine): string | undefined {
  const entry = parseEntry(line.text);
  if (entry) return isSevere(entry.level) ? describeEntry(entry) : undefined;
  // nats-server writes everything to standard error: "[pid] date time [INF] text".
  const level = /^\[\d+\] \S+ \S+ \[(\w{3})\] /.exec(line.text)?.[1];
  if (level !== undefined) return ['WRN', 'ERR', 'FTL'].includes(level) ? line.text : undefined;
  return line.stream === 'stderr' && line.text.trim() !== '' ? line.text : undefined;
}
