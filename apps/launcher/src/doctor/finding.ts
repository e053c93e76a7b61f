/** The result of one check. */
export interface Finding {
  /** Name of the check, e.g. `nats`. */
  check: string;
  level: 'ok' | 'warn' | 'fail';
  message: string;
  /** Advice in one line; absent if nothing is wrong. */
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

/** Message of a thrown value, with its code: connection errors of Node may have an empty message. */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { code } = thrown as { code?: unknown };
  if (thrown instanceof AggregateError && !thrown.message) return thrown.errors.map(reasonOf).join(', ');
  return thrown.message || (typeof code === 'string' ? code : thrown.name);
}

const clockToleranceMs = 5_000;

/** Warns if the clock of another machine differs too much from the clock of this one. */
export function checkClock(other: string, skewMs: number): Finding[] {
  if (skewMs <= clockToleranceMs) return [];
  const message = `${other} is ${Math.round(skewMs / 1000)} s off this machine`;
  return [warn('clock', message, 'synchronize both by NTP')];
}
