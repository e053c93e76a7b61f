/** A JSON object that storage keeps without looking into it. */
export type JsonObject = Record<string, unknown>;

/** An item of a response or a conversation: storage knows its id only. */
export interface ItemRecord {
  id: string;
  [field: string]: unknown;
}

/** An event of a log: storage knows its number only. */
export interface EventRecord {
  sequence_number: number;
  [field: string]: unknown;
}

export interface NewStoredResponse {
  id: string;
  /** Whose it is: the hash of an API key. Nobody else can see it. */
  owner: string;
  previousResponseId: string | null;
  conversationId: string | null;
  status: string;
  background: boolean;
  /** The response object. */
  snapshot: JsonObject;
  /** All that starting the response again takes; kept until it is finished. */
  request: JsonObject | null;
  inputItems: readonly ItemRecord[];
  /** Which process works on it, and for how many milliseconds nobody else may. */
  lease: { owner: string; ms: number };
  /** A client's Idempotency-Key with a hash of what it asked for. */
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
  /** Whether its input and output go into its conversation, where it has one. */
  joinsConversation: boolean;
  /** The part of the log that is not written yet. */
  events: readonly EventRecord[];
}
