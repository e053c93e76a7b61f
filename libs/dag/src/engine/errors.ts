import { MegaNestError, type ErrorCode } from '#contracts';
import type { NodeDefinition } from '../definition/types.js';

/** An attempt took longer than its node's `timeoutMs`; unlike the request's own deadline it may be tried again. */
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

/** True where another attempt, perhaps on another instance, may succeed. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof NodeTimeoutError) return true;
  return error instanceof MegaNestError && retryableCodes.has(error.code);
}

/**
 * The error as it leaves the run. A server error names its node where the service alone does not tell which one
 * failed, because several nodes use it.
 */
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
