import { MegaNestError } from '#contracts';

/**
 * SQLSTATEs that say "no connection to be had" rather than "the statement is wrong": broken (08), shut down (57P),
 * too many (53300, 53400), not let in (28), no such database (3D000).
 */
const unavailableStates = /^(08...|28...|57P0.|53300|53400|3D000)$/;
const retryableStates = new Set(['40001', '40P01']);
const timedOutState = '57014';
const networkCodes = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|EHOST|ENET|ENOENT$)/;
/** The driver's own errors carry no code. */
const driverMessages =
  /^(Connection terminated|timeout exceeded when|Query read timeout|Client has encountered)/;

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

/** True where the connection itself failed (refused, reset, closed, shut down), so that a new one may work. */
export function isConnectionError(error: unknown): boolean {
  const code = codeOf(error);
  if (unavailableStates.test(code) || networkCodes.test(code)) return true;
  return code === '' && error instanceof Error && driverMessages.test(error.message);
}

/** True where Postgres undid the transaction because of another one (deadlock, serialisation): run it again. */
export function isRetryableError(error: unknown): boolean {
  return retryableStates.has(codeOf(error));
}

/**
 * What callers see of a failed statement: `service_unavailable` naming postgres where the database is away,
 * `deadline_exceeded` where a statement ran into its limit, else `internal_error` with the database's own words.
 */
export function toMegaNestError(error: unknown): MegaNestError {
  if (error instanceof MegaNestError) return error;
  const detail = error instanceof Error ? describe(error) : String(error);
  const service = 'postgres';
  if (codeOf(error) === timedOutState) {
    return new MegaNestError('deadline_exceeded', { detail: `: ${detail}`, service, cause: error });
  }
  if (isConnectionError(error)) {
    return new MegaNestError('service_unavailable', { service, detail, retryAfter: 1, cause: error });
  }
  return new MegaNestError('internal_error', { service, detail, cause: error });
}

/** An AggregateError (refused on ::1 and on 127.0.0.1) has an empty message; its parts tell what happened. */
function describe(error: Error): string {
  if (!(error instanceof AggregateError)) return error.message || error.name;
  return error.errors
    .map((part: unknown) => (part instanceof Error ? part.message : String(part)))
    .join(', ');
}
