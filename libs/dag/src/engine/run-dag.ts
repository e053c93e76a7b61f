import { DagRun } from './dag-run.js';
import type { RunHandle, RunOptions } from './types.js';

/**
 * Runs a mega service for one request. Every node starts as soon as those before it have finished, branches run side
 * by side; the first failure of a node that is not optional, a cancel or the deadline stops everything. Never throws:
 * bad parameters too reject the result (unsupported_parameter, invalid_request).
 */
export function runDag(options: RunOptions): RunHandle {
  return new DagRun(options).start();
}
