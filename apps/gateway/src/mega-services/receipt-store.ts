import type { RunHandle, RunReceipt } from '#dag';

/** Where the time of one request went. */
export interface StoredReceipt {
  requestId: string;
  receipt: RunReceipt;
}

/** What a receipt is found by. */
export interface ReceiptKey {
  requestId: string;
  /** Whose request it was: the receipt does not exist for others. */
  owner: string;
  megaService: string;
}

interface Entry extends ReceiptKey {
  addedAt: number;
  /** Of the settled receipt; 0 before. */
  bytes: number;
  /** The receipt as it is now: a run that still goes on is shown as far as it got. */
  receipt: () => RunReceipt;
}

export interface ReceiptBounds {
  maxCount: number;
  /** Of all receipts together, as JSON. */
  maxBytes: number;
  maxAgeMs: number;
}

/**
 * The receipts of the last requests, in memory, bounded in number, bytes and age. What is kept of a run that has settled
 * is its receipt alone: its request and what its nodes gave are free again.
 */
export class ReceiptStore {
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(
    private readonly bounds: ReceiptBounds,
    private readonly now: () => number = Date.now,
  ) {}

  /** A repeated request id of the same owner replaces the receipt before. */
  add(key: ReceiptKey, { receipt, settled }: Pick<RunHandle, 'receipt' | 'settled'>): void {
    const name = nameOf(key.owner, key.requestId);
    this.#remove(name);
    const entry: Entry = { ...key, addedAt: this.now(), bytes: 0, receipt };
    this.#entries.set(name, entry);
    void settled.then((final) => this.#settle(name, entry, final));
    this.#drop();
  }

  find(owner: string, requestId: string): StoredReceipt | undefined {
    this.#drop();
    const entry = this.#entries.get(nameOf(owner, requestId));
    return entry && { requestId, receipt: entry.receipt() };
  }

  /** The last receipts of an owner's requests to a mega service, newest first. */
  recent(owner: string, megaService: string, count: number): StoredReceipt[] {
    this.#drop();
    const own = [...this.#entries.values()].filter(
      (entry) => entry.owner === owner && entry.megaService === megaService,
    );
    return own
      .slice(-count)
      .toReversed()
      .map(({ requestId, receipt }) => ({ requestId, receipt: receipt() }));
  }

  /** A copy by way of JSON holds nothing of the run. */
  #settle(name: string, entry: Entry, final: RunReceipt): void {
    const text = JSON.stringify(final);
    entry.receipt = () => JSON.parse(text) as RunReceipt;
    if (this.#entries.get(name) !== entry) return;
    entry.bytes = Buffer.byteLength(text);
    this.#bytes += entry.bytes;
    this.#drop();
  }

  #drop(): void {
    const oldest = this.now() - this.bounds.maxAgeMs;
    for (const [name, { addedAt }] of this.#entries) {
      const fits = this.#entries.size <= this.bounds.maxCount && this.#bytes <= this.bounds.maxBytes;
      if (fits && addedAt >= oldest) return;
      this.#remove(name);
    }
  }

  #remove(name: string): void {
    this.#bytes -= this.#entries.get(name)?.bytes ?? 0;
    this.#entries.delete(name);
  }
}

function nameOf(owner: string, requestId: string): string {
  return JSON.stringify([owner, requestId]);
}
