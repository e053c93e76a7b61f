import type { PGlite } from '@electric-sql/pglite';

/** One piece of work of one client, waiting for the database: a protocol message, or the tidying up after it left. */
interface WaitingWork {
  clientId: number;
  run(): Promise<void>;
  drop(): void;
}

export interface SessionSchedulerOptions {
  database: Pick<PGlite, 'execProtocolRawStream' | 'exec' | 'query' | 'runExclusive' | 'isInTransaction'>;
  /** Time a client may sit idle in a transaction while others wait, in milliseconds; then `evict` is called. */
  idleInTransactionMs: number;
  /** Closes a client's connection with an error. */
  evict(clientId: number): void;
  /** Closes a client's connection because it said goodbye. */
  disconnect(clientId: number): void;
  /** The database itself broke (not a query): nothing more can be served. */
  onFatal(error: Error): void;
}

/** In place of a client's id. */
const maintenance = -1;
/** Message types of the Postgres protocol, version 3. */
const terminate = 'X'.charCodeAt(0);
const query = 'Q'.charCodeAt(0);
const parse = 'P'.charCodeAt(0);
/** CopyFail, then Sync: brings a session that its client left at any point back to where a query may begin. */
const recover = Uint8Array.of(0x66, 0, 0, 0, 5, 0, 0x53, 0, 0, 0, 4);
/** ReadyForQuery: `Z`, length 5, then the transaction status. */
const readyForQuery = [0x5a, 0, 0, 0, 5];

function endsReady(tail: Uint8Array): boolean {
  return tail.length === 6 && readyForQuery.every((byte, index) => tail[index] === byte);
}

/** The last six bytes of what was sent so far. */
function appendTail(tail: Uint8Array, data: Uint8Array): Uint8Array {
  return Uint8Array.from([...tail, ...data.subarray(-6)].slice(-6));
}

/**
 * Shares PGlite's single session among many connections, one at a time. A client that sends its first message owns the
 * session until the database is ready for its next query outside a transaction and without advisory locks; the others
 * wait in the order of their arrival. So neither the messages of one statement (a large one arrives in pieces) nor the
 * statements of one transaction mix with another client's, and an advisory lock excludes the others.
 *
 * It has the shape of pglite-socket's query queue, in whose place it stands; see docs/decisions/0051.
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

  /** Runs work on the database itself, between the transactions of clients. Errors: those of the work, which are no end of the database. */
  async maintain(work: () => Promise<void>): Promise<void> {
    let failure: unknown;
    await this.schedule(maintenance, async () => {
      await work().catch((error: unknown) => (failure = error));
      this.release();
    });
    if (failure !== undefined) throw failure;
  }

  /** Forgets what a client that left still had waiting. */
  clearQueueForHandler(clientId: number): void {
    const gone = this.waiting.filter((work) => work.clientId === clientId);
    this.waiting = this.waiting.filter((work) => work.clientId !== clientId);
    for (const work of gone) work.drop();
  }

  /** Ends what a client that left had begun: its half-sent statement, its transaction, its advisory locks. */
  async clearTransactionIfNeeded(clientId: number): Promise<void> {
    if (this.owner === clientId && !this.closed) await this.schedule(clientId, () => this.tidyUp());
  }

  getQueueLength(): number {
    return this.waiting.length;
  }

  /** Takes no more work, forgets what waits, and resolves when the database is at rest and may be closed. */
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

  /** Postgres answers a bad query with a message; what throws is the engine itself. */
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

  /** The owner's next piece of work, or, when the session has no owner, the oldest of all. */
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
function refuseCopyFromClient(message: Uint8Array): Uint8Array {
  if (message[0] !== query) return message;
  const text = Buffer.from(message.buffer, message.byteOffset + 5, message.byteLength - 5).toString('utf8');
  return copyFromClient.test(text) ? createQuery(refusal) : message;
}
