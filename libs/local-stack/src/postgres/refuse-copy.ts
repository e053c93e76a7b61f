const query = 'Q'.charCodeAt(0);
/** At the start of the text or after another statement. */
const copyFromClient = /(^|;)\s*copy\b[^;]*\bfrom\s+stdin\b/i;

const refusal = `DO $$ BEGIN RAISE EXCEPTION 'COPY FROM STDIN is not supported by the embedded database'
  USING ERRCODE = 'feature_not_supported', HINT = 'Use INSERT, or a Postgres server of your own.'; END $$`;

/** A simple Query message of the Postgres protocol. */
function createQuery(text: string): Uint8Array {
  const body = Buffer.from(`${text}\0`, 'utf8');
  const header = Buffer.alloc(5);
  header.writeUInt8(query, 0);
  header.writeInt32BE(body.length + 4, 1);
  return new Uint8Array(Buffer.concat([header, body]));
}

/**
 * The message to run in place of `message`: itself, or, for COPY FROM STDIN, one that fails with a clear error. PGlite would
 * wait for the rows within the statement, which cannot arrive, and end the process.
 */
export function refuseCopyFromClient(message: Uint8Array): Uint8Array {
  if (message[0] !== query) return message;
  const text = Buffer.from(message.buffer, message.byteOffset + 5, message.byteLength - 5).toString('utf8');
  return copyFromClient.test(text) ? createQuery(refusal) : message;
}
