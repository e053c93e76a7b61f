/** A JSON object that storage does not interpret. */
export type JsonObject = Record<string, unknown>;

/** An item of a response or a conversation: storage uses only its id. */
export interface ItemRecord {
  id: string;
  [field: string]: unknown;
}

/** An event of a log: storage uses only its number. */
export interface EventRecord {
  sequence_number: number;
  [field: string]: unknown;
}

export interface NewStoredResponse {
  id: string;
  /** The owner, as the hash of an API key. Other owners cannot see it. */
  owner: string;
  previousResponseId: string | null;
  conversationId: string | null;
  status: string;
  background: boolean;
  /** The response object. */
  snapshot: JsonObject;
  /** Everything that a restart of the response needs; kept until it is finished. */
  request: JsonObject | null;
  inputItems: readonly ItemRecord[];
  /** The run that works on it, and the milliseconds for which no other run may. */
  lease: { owner: string; ms: number };
  /** A client's Idempotency-Key with a hash of its request. */
  idempotency?: { key: string; fingerprint: string };
}

export interface StoredResponse {
  id: string;
  owner: string;
  status: string;
  background: boolean;
  snapshot: JsonObject;
  request: JsonObject | null;
  fingerprint: string | null;
  conversationId: string | null;
  leaseOwner: string | null;
  finished: boolean;
}

/** The columns of a {@link StoredResponse}. */
export const responseColumns = `id, owner, status, background, snapshot, request, fingerprint,
  conversation_id AS "conversationId", lease_owner AS "leaseOwner", finished_at IS NOT NULL AS finished`;

/** The end of a response, written in one transaction. */
export interface ResponseEnd {
  status: string;
  snapshot: JsonObject;
  outputItems: readonly ItemRecord[];
  /** Whether to append its input and output to its conversation, if it has one. */
  joinsConversation: boolean;
  /** The unwritten events of the log. */
  events: readonly EventRecord[];
}
