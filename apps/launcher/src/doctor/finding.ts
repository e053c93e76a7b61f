/** One thing that was looked at. */
export interface Finding {
  /** What was looked at, e.g. `nats`. */
  check: string;
  level: 'ok' | 'warn' | 'fail';
  message: string;
  /** What to do about it, in one line; absent where all is well. */
  fix?: string;
}

export const ok = (check: string, message: string): Finding => ({ check, level: 'ok', message });
export const warn = (check: string, message: string, fix: string): Finding => ({
  check,
  level: 'warn',
  message,
  fix,
});
export const fail = (check: string, message: string, fix: string): Finding => ({
  check,
  level: 'fail',
  message,
  fix,
});

/** A finding as one line: `fail  nats       …  →  …`. */
export function formatFinding({ check, level, message, fix }: Finding): string {
  const line = `${level.padEnd(5)} ${check.padEnd(11)} ${message.replaceAll(/\s+/g, ' ')}`;
  return fix === undefined ? line : `${line}  →  ${fix}`;
}

/** The message of whatever was thrown, with its code: Node's connection errors may have no message. */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { code } = thrown as { code?: unknown };
  if (thrown instanceof AggregateError && !thrown.message) return thrown.errors.map(reasonOf).join(', ');
  return thrown.message || (typeof code === 'string' ? code : thrown.name);
}

const clockToleranceMs = 5_000;

/** What to do where the clock of another machine differs from this one's by milliseconds. */
export function checkClock(other: string, skewMs: number): Finding[] {
  if (skewMs <= clockToleranceMs) return [];
  const message = `${other} is ${Math.round(skewMs / 1000)} s off this machine`;
  return [warn('clock', message, 'synchronise both by NTP')];
}
