import type { StoredItem } from '#responses';

/** A call that the caller was asked about, and what it said. */
export interface AnsweredApproval {
  requestId: string;
  name: string;
  /** JSON. */
  input: string;
  approved: boolean;
  reason: string | undefined;
}

/** Answers to requests for consent of one server that nothing came of yet. */
export function answeredApprovals(items: readonly StoredItem[], label: string): AnsweredApproval[] {
  const made = new Set(
    items.filter(({ type }) => type === 'mcp_call').map((item) => item['approval_request_id']),
  );
  const requests = new Map(
    items
      .filter((item) => item.type === 'mcp_approval_request' && item['server_label'] === label)
      .map((item) => [item.id, item]),
  );
  return items.flatMap((item) => {
    if (item.type !== 'mcp_approval_response') return [];
    const request = requests.get(String(item['approval_request_id']));
    if (!request || made.has(request.id)) return [];
    const reason = item['reason'];
    return {
      requestId: request.id,
      name: String(request['name']),
      input: String(request['arguments']),
      approved: item['approve'] === true,
      reason: typeof reason === 'string' ? reason : undefined,
    };
  });
}
