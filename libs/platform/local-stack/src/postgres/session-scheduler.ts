import type { PGlite } from '@electric-sql/pglite';

/** Work of a client that waits for the database: a protocol message, or the clean-up after the client disconnected. */
interface WaitingWork {
  clientId: number;
  run(): Promise<void>;
  drop(): void;
}

export interface SessionSchedulerOptions {
  database: Pick<PGlite, 'execProtocolRawStream' | 'exec' | 'query' | 'runExclusive' | 'isInTransaction'>;
  /** Milliseconds that a client may be idle in a transaction while other clients wait. Then `evict` is called. */
  idleInTransactionMs: number;
  /** Closes a client's connection with an error. */
  evict(clientId: number): void;
  /** Closes the connection of a client that sent Terminate. */
  disconnect(clientId: number): void;
  /** Called when the database itself fails, not only a query. It cannot serve any more messages. */
  onFatal(error: Error): void;
}

/** Client id of the scheduler's own maintenance work. */
const maintenance = -1;
/** Message types of the Postgres protocol, version 3. */
const terminate = 'X'.charCodeAt(0);
const query = 'Q'.charCodeAt(0);
const parse = 'P'.charCodeAt(0);
/** CopyFail, then Sync: after any disconnection of a client, the session is then ready for a new query. */
const recover = Uint8Array.of(0x66, 0, 0, 0, 5, 0, 0x53, 0, 0, 0, 4);
/** ReadyForQuery: `Z`, length 5, then the transaction status. */
const readyForQuery = [0x5a, 0, 0, 0, 5];

function endsReady(tail: Uint8Array): boolean {
  return tail.length === 6 && readyForQuery.every((byte, index) => tail[index] === byte);
}

/** The last six bytes of the data sent so far. */
function appendTail(tail: Uint8Array, data: Uint8Array): Uint8Array {
  return Uint8Array.from([...tail, ...data.subarray(-6)].slice(-6));
}

/**
 * Shares the single session of PGlite among many connections, one at a time. A client owns the session from its first
 * message until the database is ready for the next query, outside a transaction and without advisory locks. Other
 * clients wait in the order of their arrival. The messages of a statement (a large one arrives in pieces) and the
 * statements of a transaction therefore do not mix with messages of other clients, and an advisory lock excludes other
 * clients.
 *
 * It has the interface of pglite-socket's query queue, which it replaces; see docs/design/processes-and-deployment.md.
 */
export class SessionScheduler {
  private waiting: WaitingWork[] = [];
  private owner: number | undefined;
  private running = false;
  private pumping: Promise<void> | undefined;
  private closed = false;
  private mentionsAdvisoryLock = false;
  private tail: Uint8Array = new Uint8Array();
  private idleTimer: NodeJS.Timeout | undefined;

  constructor(private readonly options: SessionSchedulerOptions) {}

  /** Queues one message; resolves with the size of its response once the database has answered. */
  enqueue(clientId: number, bytes: Uint8Array, onData: (data: Uint8Array) => void): Promise<number> {
    if (bytes[0] === terminate) {
      this.options.disconnect(clientId);
      return Promise.resolve(0);
    }
    return this.schedule(clientId, () => this.execute(refuseCopyFromClient(bytes), onData));
  }

  /**
   * Runs work on the database between the transactions of clients. Errors: the errors of `work`, which are not fatal.
   */
  async maintain(work: () => Promise<void>): Promise<void> {
    let failure: unknown;
    await this.schedule(maintenance, async () => {
      await work().catch((error: unknown) => (failure = error));
      this.release();
    });
    if (failure !== undefined) throw failure;
  }

  /** Drops the waiting work of a client that disconnected. */
  clearQueueForHandler(clientId: number): void {
    const gone = this.waiting.filter((work) => work.clientId === clientId);
    this.waiting = this.waiting.filter((work) => work.clientId !== clientId);
    for (const work of gone) work.drop();
  }

  /**
   * Cleans up after a client that disconnected: ends its incomplete statement, its transaction and its advisory locks.
   */
  async clearTransactionIfNeeded(clientId: number): Promise<void> {
    if (this.owner === clientId && !this.closed) await this.schedule(clientId, () => this.tidyUp());
  }

  getQueueLength(): number {
    return this.waiting.length;
  }

  /** Refuses new work and drops waiting work. Resolves when the database is idle and may be closed. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.idleTimer);
    for (const work of this.waiting.splice(0)) work.drop();
    await this.pumping;
  }

  private schedule<Result>(clientId: number, task: () => Promise<Result>): Promise<Result> {
    if (this.closed) return Promise.reject(new Error('The database is being stopped'));
    return new Promise((resolve, reject) => {
      const run = () => task().then(resolve, (error: Error) => this.failFatally(error, reject));
      this.waiting.push({ clientId, run, drop: () => reject(new Error('The client left')) });
      if (!this.running) this.pumping = this.pump();
    });
  }

  /** Handles a fatal error. Postgres answers a bad query with a message; an exception comes from the engine itself. */
  private failFatally(error: Error, reject: (error: Error) => void): void {
    reject(error);
    this.options.onFatal(error);
  }

  private async pump(): Promise<void> {
    this.running = true;
    clearTimeout(this.idleTimer);
    for (let work = this.takeNext(); work; work = this.takeNext()) {
      this.owner = work.clientId;
      await work.run();
    }
    this.running = false;
    this.watchIdleOwner();
  }

  /** The next work of the owner, or the oldest work of all clients if the session has no owner. */
  private takeNext(): WaitingWork | undefined {
    const index =
      this.owner === undefined ? 0 : this.waiting.findIndex(({ clientId }) => clientId === this.owner);
    return index < 0 ? undefined : this.waiting.splice(index, 1)[0];
  }

  private async send(bytes: Uint8Array, onData: (data: Uint8Array) => void): Promise<void> {
    const { database } = this.options;
    await database.runExclusive(() => database.execProtocolRawStream(bytes, { onRawData: onData }));
  }

  private async execute(bytes: Uint8Array, onData: (data: Uint8Array) => void): Promise<number> {
    this.noteAdvisoryLocks(bytes);
    let responseBytes = 0;
    await this.send(bytes, (data) => {
      responseBytes += data.length;
      this.tail = appendTail(this.tail, data);
      onData(data);
    });
    await this.releaseWhenDone();
    return responseBytes;
  }

  private async tidyUp(): Promise<void> {
    const { database } = this.options;
    await this.send(recover, () => undefined);
    if (database.isInTransaction()) await database.exec('ROLLBACK');
    await database.query('SELECT pg_advisory_unlock_all()');
    this.release();
  }

  private noteAdvisoryLocks(bytes: Uint8Array): void {
    if (this.mentionsAdvisoryLock || (bytes[0] !== query && bytes[0] !== parse)) return;
    this.mentionsAdvisoryLock = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(
      'advisory',
    );
  }

  private async releaseWhenDone(): Promise<void> {
    const { database } = this.options;
    if (!endsReady(this.tail) || database.isInTransaction()) return;
    if (this.mentionsAdvisoryLock && (await this.holdsAdvisoryLock())) return;
    this.release();
  }

  private async holdsAdvisoryLock(): Promise<boolean> {
    const held = await this.options.database.query(
      "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' LIMIT 1",
    );
    return held.rows.length > 0;
  }

  private release(): void {
    this.owner = undefined;
    this.mentionsAdvisoryLock = false;
    this.tail = new Uint8Array();
  }

  private watchIdleOwner(): void {
    clearTimeout(this.idleTimer);
    const { owner } = this;
    if (owner === undefined || this.closed) return;
    this.idleTimer = setTimeout(() => {
      if (this.waiting.length > 0) this.options.evict(owner);
      else this.watchIdleOwner();
    }, this.options.idleInTransactionMs);
    this.idleTimer.unref();
  }
}

/** COPY FROM STDIN at the start of the text or after another statement. */
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
 * Replaces COPY FROM STDIN with a message that fails with a clear error; returns any other message unchanged. PGlite
 * would wait within the statement for rows that cannot arrive, and end the process.
 */
function refuseCopyFromClient(message: Uint8Array): Uint8Array {
  if (message[0] !== query) return message;
  const text = Buffer.from(message.buffer, message.byteOffset + 5, message.byteLength - 5).toString('utf8');
  return copyFromClient.test(text) ? createQuery(refusal) : message;
}
