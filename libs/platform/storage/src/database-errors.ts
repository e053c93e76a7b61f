import { MegaNestError } from '#platform/contracts';

/**
 * SQLSTATEs of an unavailable connection, as opposed to a wrong statement: broken (08), ended since it was idle within a transaction (25P03), shut down (57P), too many
 * connections (53300, 53400), access refused (28), unknown database (3D000).
 */
const unavailableStates = /^(08...|25P03|28...|57P0.|53300|53400|3D000)$/;
const retryableStates = new Set(['40001', '40P01']);
const timedOutState = '57014';
/** A lock was not free in time. */
const lockedState = '55P03';
/** An index entry is too large: a name, an id or a link was too long. */
const tooLargeState = '54000';
/** A number does not fit into its column. A schema without an upper limit let it pass. */
const outOfRangeState = '22003';
const diskFullState = '53100';
const networkCodes = /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|EHOST|ENET|ENOENT$)/;
/** TLS errors: an untrusted certificate, a wrong name, no common protocol. */
const tlsCodes = /^(ERR_TLS|ERR_SSL|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_|EPROTO$)/;
/** The driver's own errors do not have a code. */
const driverMessages =
  /^(Connection terminated|timeout exceeded when|Query read timeout|Client has encountered|The server does not support SSL)/;

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

/** True if the connection failed (refused, reset, closed, shut down), so that a new one may work. */
export function isConnectionError(error: unknown): boolean {
  const code = codeOf(error);
  if ([unavailableStates, networkCodes, tlsCodes].some((codes) => codes.test(code))) return true;
  return code === '' && error instanceof Error && driverMessages.test(error.message);
}

/**
 * True if the database is away and may come back by itself: refused, reset, shutting down, starting up. False if it
 * refuses this client, or if all connections are in use.
 */
export function isAwayError(error: unknown): boolean {
  const code = codeOf(error);
  if (/^(08...|57P0[123]|ECONN.*|EPIPE|EHOSTUNREACH|EAI_AGAIN)$/.test(code)) return true;
  return (
    code === '' &&
    error instanceof Error &&
    /^(Connection terminated|Client has encountered)/.test(error.message)
  );
}

/** True if Postgres rolled the transaction back because of another one (deadlock, serialization): run it again. */
export function isRetryableError(error: unknown): boolean {
  return retryableStates.has(codeOf(error));
}

/** True where the server could not allocate shared memory for parallel workers (`/dev/shm`). */
export function lacksSharedMemory(error: unknown): boolean {
  const { cause = error } = error instanceof Error ? error : {};
  return cause instanceof Error && /shared memory segment/.test(cause.message);
}

/**
 * Converts the error of a statement to an error for callers: `service_unavailable` with postgres if the database is
 * away, its disk is full or another transaction holds a lock, `deadline_exceeded` if a statement exceeded its time limit, `invalid_request` if a value is
 * too long for an index or too large for a number, otherwise `internal_error` with the SQLSTATE. The database's message may contain data of
 * others, so it is only the cause, for the log.
 */
export function toMegaNestError(error: unknown): MegaNestError {
  if (error instanceof MegaNestError) return error;
  const detail = error instanceof Error ? describe(error) : String(error);
  const service = 'postgres';
  if (codeOf(error) === timedOutState) {
    return new MegaNestError('deadline_exceeded', {
      detail: ': a statement took too long',
      service,
      cause: error,
    });
  }
  if (isConnectionError(error)) {
    return new MegaNestError('service_unavailable', { service, detail, retryAfter: 1, cause: error });
  }
  if (codeOf(error) === lockedState) {
    const locked = 'another transaction holds a lock that this one needs';
    return new MegaNestError('service_unavailable', { service, detail: locked, retryAfter: 1, cause: error });
  }
  if (codeOf(error) === diskFullState) {
    return new MegaNestError('service_unavailable', {
      service,
      detail: 'its disk is full',
      retryAfter: 10,
      cause: error,
    });
  }
  if (codeOf(error) === tooLargeState) {
    const tooLong = 'A name or an id in the request is too long to be stored.';
    return new MegaNestError('invalid_request', { detail: tooLong, cause: error });
  }
  if (codeOf(error) === outOfRangeState) {
    const outOfRange = 'A number in the request is too large.';
    return new MegaNestError('invalid_request', { detail: outOfRange, cause: error });
  }
  const state = codeOf(error);
  // An error without a code is not from the database but from the work in the transaction.
  const refusal = state ? `it refused a statement (SQLSTATE ${state})` : detail;
  return new MegaNestError('internal_error', { service, detail: refusal, cause: error });
}

/** An AggregateError (refused on ::1 and on 127.0.0.1) has an empty message; its parts have the causes. */
function describe(error: Error): string {
  if (!(error instanceof AggregateError)) return error.message || error.name;
  return error.errors
    .map((part: unknown) => (part instanceof Error ? part.message : String(part)))
    .join(', ');
}
