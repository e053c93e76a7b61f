/** Wrong keys that one address may send in a minute before it is told to wait. */
const mostFailures = 20;
const windowMs = 60_000;
/** Addresses that are kept; beyond it the oldest are forgotten. */
const mostAddresses = 10_000;

interface Failures {
  count: number;
  endsAt: number;
}

/** Counts wrong keys by address. A right key passes all the same: one client behind a proxy must not lock out the others. */
export class FailedKeys {
  readonly #byAddress = new Map<string, Failures>();

  /** Counts one; answers the seconds to wait where there were too many. */
  add(address: string, now = Date.now()): number | undefined {
    const known = this.#byAddress.get(address);
    const failures = known && known.endsAt > now ? known : { count: 0, endsAt: now + windowMs };
    failures.count += 1;
    this.#byAddress.delete(address);
    this.#byAddress.set(address, failures);
    const [oldest] = this.#byAddress.keys();
    if (this.#byAddress.size > mostAddresses && oldest !== undefined) this.#byAddress.delete(oldest);
    return failures.count > mostFailures ? Math.ceil((failures.endsAt - now) / 1000) : undefined;
  }
}
