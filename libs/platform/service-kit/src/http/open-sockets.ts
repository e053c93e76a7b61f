import { MegaNestError } from '#platform/contracts';

/** Share of the WebSockets that one client may open. */
const shareOfOne = 0.5;

/** The open WebSockets of a process, with their clients. One client has half of them. */
export class OpenSockets<Socket extends object> {
  readonly #open = new Map<Socket, string>();

  /** `service` and `what` are for refusals: "The gateway service has 128 open WebSockets of this client". */
  constructor(private readonly limits: { service: string; what: string; max: number }) {}

  /** Called before the upgrade. Errors: overloaded where the limit of sockets, or of one client's, is reached. */
  check(client: string): void {
    const { service, what, max } = this.limits;
    const maxOfOne = Math.ceil(max * shareOfOne);
    const own = [...this.#open.values()].filter((other) => other === client).length;
    if (this.#open.size < max && own < maxOfOne) return;
    const detail =
      own < maxOfOne ? `${max} ${what}` : `${own} ${what} of this client, and the limit is ${maxOfOne}`;
    throw new MegaNestError('overloaded', { service, detail, retryAfter: 5 });
  }

  add(socket: Socket, client: string): void {
    this.#open.set(socket, client);
  }

  delete(socket: Socket): void {
    this.#open.delete(socket);
  }

  [Symbol.iterator](): IterableIterator<Socket> {
    return this.#open.keys();
  }
}
