import { MegaNestError } from '#platform/contracts';
import { readsStream } from '../definition/rules.js';
import type { NodeRecord, SkipReach, SkipReason } from './run-state.js';

/** Starts the nodes whose predecessors have all finished, one after the other. */
export class ReadyQueue {
  private readonly ready: NodeRecord[] = [];
  private draining = false;

  constructor(
    private readonly records: ReadonlyMap<string, NodeRecord>,
    /** Must not throw. It may release further nodes, which start after it. */
    private readonly begin: (record: NodeRecord) => void,
  ) {}

  startRoots(): void {
    for (const record of this.records.values()) this.addIfReady(record);
    this.drain();
  }

  /** Records that the node has finished; takes effect with the next {@link drain}. */
  releaseFollowers({ node }: NodeRecord): void {
    for (const name of node.followers) this.release(name, node.name);
  }

  /** Records that the node's stream has begun, for the nodes that read it. */
  releaseReaders({ node }: NodeRecord): void {
    for (const name of node.followers) {
      const follower = this.records.get(name);
      if (follower && readsStream(follower.node, node.name)) this.release(name, node.name);
    }
  }

  drain(): void {
    if (this.draining) return;
    this.draining = true;
    for (let record = this.ready.shift(); record; record = this.ready.shift()) this.begin(record);
    this.draining = false;
  }

  private release(follower: string, before: string): void {
    const record = this.records.get(follower);
    if (record?.waitingFor.delete(before)) this.addIfReady(record);
  }

  private addIfReady(record: NodeRecord): void {
    if (record.waitingFor.size === 0 && record.state === 'waiting') this.ready.push(record);
  }
}

/** The parts of a run that {@link planNode} uses. */
export interface RunView {
  readonly records: ReadonlyMap<string, NodeRecord>;
  readonly request: unknown;
  /** Epoch milliseconds. */
  readonly deadline: number | undefined;
  /** Returns the parameters of all nodes; the named node's take precedence. */
  parametersSeenBy(node: string): Readonly<Record<string, unknown>>;
}

/** The plan for a node whose predecessors have finished. */
type NodePlan =
  | { kind: 'run' }
  | { kind: 'fail'; error: MegaNestError }
  /** `bypass`: the value at its passThrough port may replace its output; otherwise `skipReach` applies. */
  | (SkipReason & { kind: 'skip'; bypass: boolean });

/** Minimum remaining milliseconds for an optional node without a timeout. */
const minBudgetMs = 250;

/** Plans a node whose predecessors have all finished: run, fail or skip. */
export function planNode(record: NodeRecord, view: RunView): NodePlan {
  return (
    shortCircuited(record, view) ??
    missingInput(record, view) ??
    shortBudget(record, view) ??
    unmetCondition(record, view) ?? { kind: 'run' }
  );
}

function shortCircuited({ node }: NodeRecord, { records }: RunView): NodePlan | undefined {
  const before = node.after.flatMap((name) => records.get(name) ?? []);
  const origin = before.find(({ skipReach }) => skipReach === 'short-circuit');
  if (origin) return skip(`short-circuited by "${originOf(origin, records)}"`, 'short-circuit');
  if (before.length === 0 || !before.every(({ skipReach }) => skipReach === 'condition')) return undefined;
  return skip(`follows only ${before.map(({ node: { name } }) => `"${name}"`).join(', ')}`, 'condition');
}

/** The node that short-circuited: the record itself, or one of its ancestors. */
function originOf(record: NodeRecord, records: ReadonlyMap<string, NodeRecord>): string {
  if (record.state === 'ok') return record.node.name;
  const before = record.node.after.flatMap((name) => records.get(name) ?? []);
  const above = before.find(({ skipReach }) => skipReach === 'short-circuit');
  return above ? originOf(above, records) : record.node.name;
}

function missingInput({ node }: NodeRecord, { records }: RunView): NodePlan | undefined {
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

function shortBudget({ node }: NodeRecord, { deadline }: RunView): NodePlan | undefined {
  if (!node.optional || deadline === undefined) return undefined;
  const leftMs = deadline - Date.now();
  const neededMs = node.timeoutMs ?? minBudgetMs;
  if (leftMs >= neededMs) return undefined;
  const why = `the deadline is near: ${leftMs} ms left, ${neededMs} ms needed`;
  return { kind: 'skip', why, code: 'deadline_exceeded', bypass: true };
}

function unmetCondition({ node }: NodeRecord, view: RunView): NodePlan | undefined {
  if (!node.when) return undefined;
  const { request } = view;
  const parameters = view.parametersSeenBy(node.name);
  try {
    if (node.when.evaluate({ request, parameters, outputs: outputsOf(view) })) return undefined;
    return { kind: 'skip', why: `when: ${node.when.source}`, bypass: true, skipReach: 'condition' };
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

function skip(why: string, skipReach: SkipReach): NodePlan {
  return { kind: 'skip', why, bypass: false, skipReach };
}
