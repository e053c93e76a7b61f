import { readsStream } from '../definition/rules.js';
import type { NodeRecord } from './node-record.js';

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
