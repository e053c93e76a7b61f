import { MegaNestError } from '#contracts';
import type { Cut, NodeRecord } from './node-record.js';

/** What the scheduler needs to know of a run in order to decide about a node. */
export interface RunView {
  readonly records: ReadonlyMap<string, NodeRecord>;
  readonly request: unknown;
  /** Epoch milliseconds. */
  readonly deadline: number | undefined;
  /** Parameters of all nodes, the named node's in front. */
  parametersSeenBy(node: string): Readonly<Record<string, unknown>>;
}

export type Decision =
  | { kind: 'run' }
  | { kind: 'fail'; error: MegaNestError }
  /** `standIn`: what arrived at its passThrough port may replace its output; `cut` holds where nothing does. */
  | { kind: 'skip'; why: string; standIn: boolean; cut: Cut | undefined };

/** Milliseconds that an optional node without a timeout of its own must have left. */
const leastBudgetMs = 250;

/** Decides about a node whose predecessors have all finished. */
export function decide(record: NodeRecord, view: RunView): Decision {
  return (
    cutFromAbove(record, view) ??
    missingInput(record, view) ??
    shortBudget(record, view) ??
    unmetCondition(record, view) ?? { kind: 'run' }
  );
}

function cutFromAbove({ node }: NodeRecord, { records }: RunView): Decision | undefined {
  const before = node.after.flatMap((name) => records.get(name) ?? []);
  const judge = before.find(({ cut }) => cut === 'verdict');
  if (judge) return skip(`cut by the verdict of "${originOfVerdict(judge, records)}"`, 'verdict');
  if (before.length === 0 || !before.every(({ cut }) => cut === 'condition')) return undefined;
  return skip(`follows only ${before.map(({ node: { name } }) => `"${name}"`).join(', ')}`, 'condition');
}

/** The node that gave the verdict: the cut record itself, or the one further up. */
function originOfVerdict(record: NodeRecord, records: ReadonlyMap<string, NodeRecord>): string {
  if (record.state === 'ok') return record.node.name;
  const before = record.node.after.flatMap((name) => records.get(name) ?? []);
  const above = before.find(({ cut }) => cut === 'verdict');
  return above ? originOfVerdict(above, records) : record.node.name;
}

function missingInput({ node }: NodeRecord, { records }: RunView): Decision | undefined {
  const { kind, inputs } = node.target;
  for (const [port, { optional }] of Object.entries(kind.inputs)) {
    const source = inputs[port];
    if (optional || source === undefined) continue;
    const record = records.get(source);
    if (record?.output || record?.stream) continue;
    return skip(`its input "${port}" is missing: "${source}" was skipped`, 'condition');
  }
  return undefined;
}

function shortBudget({ node }: NodeRecord, { deadline }: RunView): Decision | undefined {
  if (!node.optional || deadline === undefined) return undefined;
  const leftMs = deadline - Date.now();
  const neededMs = node.timeoutMs ?? leastBudgetMs;
  if (leftMs >= neededMs) return undefined;
  const why = `the deadline is near: ${leftMs} ms left, ${neededMs} ms needed`;
  return { kind: 'skip', why, standIn: true, cut: undefined };
}

function unmetCondition({ node }: NodeRecord, view: RunView): Decision | undefined {
  if (!node.when) return undefined;
  const { request } = view;
  const parameters = view.parametersSeenBy(node.name);
  try {
    if (node.when.evaluate({ request, parameters, outputs: outputsOf(view) })) return undefined;
    return { kind: 'skip', why: `when: ${node.when.source}`, standIn: true, cut: 'condition' };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const detail = `the condition of node "${node.name}" could not be decided: ${reason}`;
    const error = new MegaNestError('internal_error', { service: node.target.service, detail, cause });
    return { kind: 'fail', error };
  }
}

function outputsOf({ records }: RunView): Record<string, unknown> {
  const outputs: Record<string, unknown> = {};
  for (const { node, output } of records.values()) if (output) outputs[node.name] = output.value;
  return outputs;
}

function skip(why: string, cut: Cut): Decision {
  return { kind: 'skip', why, standIn: false, cut };
}
