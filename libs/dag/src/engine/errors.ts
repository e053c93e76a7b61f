import { MegaNestError, type ErrorCode } from '#contracts';
import type { NodeDefinition } from '../definition/types.js';

/** An attempt exceeded its node's `timeoutMs`; unlike the request's deadline it may be retried. */
export class NodeTimeoutError extends MegaNestError {
  constructor(node: NodeDefinition) {
    const detail = `: node "${node.name}" took longer than ${node.timeoutMs} ms`;
    super('deadline_exceeded', { detail, service: node.target.service });
  }
}

const retryableCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'service_unavailable',
  'overloaded',
  'rate_limit_exceeded',
  'bad_upstream',
]);

/** True if another attempt, perhaps on another instance, may succeed. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof NodeTimeoutError) return true;
  return error instanceof MegaNestError && retryableCodes.has(error.code);
}

/** Adds the node's name to a server error if several nodes use the same service. */
export function nameNode(error: MegaNestError, node: NodeDefinition, nodes: Iterable<NodeDefinition>) {
  const { service } = node.target;
  const sharing = [...nodes].filter((other) => other.target.service === service).length;
  const known = sharing < 2 || error.message.includes(`"${node.name}"`);
  if (known || error.status < 500 || error.code === 'cancelled') return error;
  const named = MegaNestError.fromBody({
    ...error.toBody(),
    message: `${error.message} (node "${node.name}")`,
  });
  named.cause = error;
  return named;
}
