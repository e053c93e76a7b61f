import type { RunHandle, RunReceipt } from '#platform/dag';

/** The timings of one request. */
export interface StoredReceipt {
  requestId: string;
  receipt: RunReceipt;
}

/** Key of a receipt. */
export interface ReceiptKey {
  requestId: string;
  /** The owner of the request. Other owners do not see the receipt. */
  owner: string;
  megaService: string;
}

interface Entry extends ReceiptKey {
  addedAt: number;
  /** Bytes of the settled receipts as JSON; 0 before. */
  bytes: number;
  /** The current receipt. The receipt of an unfinished run shows its progress. */
  receipt: () => RunReceipt;
}

interface ReceiptBounds {
  maxCount: number;
  /** Maximum bytes of all receipts together, as JSON. */
  maxBytes: number;
  maxAgeMs: number;
}

/**
 * The receipts of the last requests, in memory, with limits of number, bytes and age. The store keeps only the receipt
 * of a settled run, so that its request and the outputs of its nodes can be freed.
 */
export class ReceiptStore {
  /** Receipts by owner and request id, oldest first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(
    private readonly bounds: ReceiptBounds,
    private readonly now: () => number = Date.now,
  ) {}

  /** Adds a receipt. It replaces an earlier receipt with the same owner and request id. */
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
    return entry && storedOf(entry);
  }

  /** The last receipts of an owner's requests to a mega service, newest first. */
  recent(owner: string, megaService: string, count: number): StoredReceipt[] {
    this.#drop();
    const own = [...this.#entries.values()].filter(
      (entry) => entry.owner === owner && entry.megaService === megaService,
    );
    return own.slice(-count).toReversed().map(storedOf);
  }

  /** Replaces a receipt by a copy from JSON, which has no reference to the run. */
  #settle(name: string, entry: Entry, final: RunReceipt): void {
    const text = JSON.stringify(final);
    entry.receipt = () => JSON.parse(text) as RunReceipt;
    if (this.#entries.get(name) !== entry) return;
    const bytes = Buffer.byteLength(text);
    entry.bytes += bytes;
    this.#bytes += bytes;
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

function storedOf({ requestId, receipt }: Entry): StoredReceipt {
  return { requestId, receipt: receipt() };
}

/** A step of a mega service that failed or was too late, so that the answer was made without it. */
interface DegradedStep {
  /** Name of the node, `outer/inner` in a nested mega service; or of a part of a node's work. */
  name: string;
  /** Code of the error, or a description of the problem. */
  reason: string;
}

/**
 * The optional nodes that a run skipped because they failed or were too late, and the failed parts of nodes in
 * `details.degraded`. Excludes nodes that were skipped by a condition.
 */
export function degradedSteps({ nodes }: RunReceipt, prefix = ''): DegradedStep[] {
  return nodes.flatMap(({ node, state, code, details, nested }) => [
    ...(state === 'skipped' && code ? [{ name: prefix + node, reason: code }] : []),
    ...Object.entries((details?.['degraded'] ?? {}) as Record<string, string>).map(([part, reason]) => ({
      name: prefix + part,
      reason,
    })),
    ...(nested ? degradedSteps(nested, `${prefix}${node}/`) : []),
  ]);
}

/**
 * The queries of a run's searches, each once; an empty list if nothing was searched, and undefined without a node that
 * searches.
 */
export function searchedQueries({ nodes }: RunReceipt): string[] | undefined {
  const found = nodes.flatMap(({ details, nested }) => {
    const searched = details?.['searched'] as readonly { query: string }[] | undefined;
    const own = searched?.map(({ query }) => query);
    const inner = nested && searchedQueries(nested);
    return own || inner ? [[...(own ?? []), ...(inner ?? [])]] : [];
  });
  return found.length > 0 ? [...new Set(found.flat())] : undefined;
}
