import type { RunReceipt } from '#dag';

/** Where the time of one request went. */
export interface StoredReceipt {
  requestId: string;
  receipt: RunReceipt;
}

interface Entry {
  requestId: string;
  megaService: string;
  addedAt: number;
  /** The receipt as it is now: a run that still goes on is shown as far as it got. */
  receipt: () => RunReceipt;
}

export interface ReceiptBounds {
  maxCount: number;
  maxAgeMs: number;
}

/** The receipts of the last requests, in memory, bounded in number and age. */
export class ReceiptStore {
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();

  constructor(
    private readonly bounds: ReceiptBounds,
    private readonly now: () => number = Date.now,
  ) {}

  /** A repeated request id replaces the receipt before. */
  add(requestId: string, megaService: string, receipt: () => RunReceipt): void {
    this.#entries.delete(requestId);
    this.#entries.set(requestId, { requestId, megaService, addedAt: this.now(), receipt });
    this.#drop();
  }

  find(requestId: string): StoredReceipt | undefined {
    this.#drop();
    const entry = this.#entries.get(requestId);
    return entry && { requestId, receipt: entry.receipt() };
  }

  /** The last receipts of a mega service, newest first. */
  recent(megaService: string, count: number): StoredReceipt[] {
    this.#drop();
    const own = [...this.#entries.values()].filter((entry) => entry.megaService === megaService);
    return own
      .slice(-count)
      .toReversed()
      .map(({ requestId, receipt }) => ({ requestId, receipt: receipt() }));
  }

  #drop(): void {
    const oldest = this.now() - this.bounds.maxAgeMs;
    for (const [requestId, { addedAt }] of this.#entries) {
      if (this.#entries.size <= this.bounds.maxCount && addedAt >= oldest) return;
      this.#entries.delete(requestId);
    }
  }
}
