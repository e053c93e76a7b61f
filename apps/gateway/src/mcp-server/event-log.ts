import type { EventId, EventStore, StreamId } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

interface LoggedEvent {
  number: number;
  stream: StreamId;
  message: JSONRPCMessage;
  characters: number;
}

/** Limits of the events of one session. */
const usualLimits = { events: 1_000, characters: 4_000_000 };

/** The last events of a session in memory. A client that lost its connection gets those that it missed. */
export class EventLog implements EventStore {
  #events: LoggedEvent[] = [];
  #characters = 0;
  #count = 0;

  constructor(private readonly limits = usualLimits) {}

  storeEvent(stream: StreamId, message: JSONRPCMessage): Promise<EventId> {
    const characters = JSON.stringify(message).length;
    const event = { number: (this.#count += 1), stream, message, characters };
    this.#events.push(event);
    this.#characters += characters;
    this.#forget();
    return Promise.resolve(String(event.number));
  }

  /** Undefined for an event that is forgotten, so that the client begins again. */
  getStreamIdForEventId(id: EventId): Promise<StreamId | undefined> {
    return Promise.resolve(this.#find(id)?.stream);
  }

  async replayEventsAfter(
    id: EventId,
    { send }: { send: (eventId: EventId, message: JSONRPCMessage) => Promise<void> },
  ): Promise<StreamId> {
    const last = this.#find(id);
    if (!last) throw new Error('This event is not known any more.');
    const missed = this.#events.filter(
      ({ stream, number }) => stream === last.stream && number > last.number,
    );
    // The event that opens a stream has no message.
    for (const { number, message } of missed) if ('jsonrpc' in message) await send(String(number), message);
    return last.stream;
  }

  #find(id: EventId): LoggedEvent | undefined {
    return this.#events.find(({ number }) => String(number) === id);
  }

  #forget(): void {
    const { events, characters } = this.limits;
    while (this.#events.length > events || (this.#characters > characters && this.#events.length > 1))
      this.#characters -= this.#events.shift()?.characters ?? 0;
  }
}
