import type { RunReceipt } from '#platform/dag';
import type { MegaService } from '../api/queries';

/** A run of a mega service, from its receipt. */
export type PipelineRun = RunReceipt & { requestId: string };

/** A mega service with its definition and its recent runs, latest first. */
export interface DetailedMegaService extends MegaService {
  source: string;
  recent: PipelineRun[];
}

/** An error in a definition. */
export interface Problem {
  node?: string;
  field?: string;
  message: string;
}

/** The column of each node: one more than the highest column of the nodes for which it waits. */
export function columnsOf(nodes: readonly { node: string; after: readonly string[] }[]): Map<string, number> {
  const byName = new Map(nodes.map((node) => [node.node, node]));
  const columns = new Map<string, number>();
  const columnOf = (name: string): number => {
    const known = columns.get(name);
    if (known !== undefined) return known;
    const before = byName.get(name)?.after ?? [];
    const column = Math.max(-1, ...before.map(columnOf)) + 1;
    columns.set(name, column);
    return column;
  };
  for (const { node } of nodes) columnOf(node);
  return columns;
}
