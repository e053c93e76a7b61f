import { collectorOf, type NodeTarget, type MegaServiceDefinition } from '../definition/types.js';
import type { NodeRecord } from './run-state.js';
import { splitSentences, type TextChunk } from './sentences.js';
import type { NodeParameters } from '../definition/parameters.js';
import type { AbortScope } from './abort-scope.js';
import { startAttempt, type OpenStream, type RunningAttempt } from './attempt.js';
import { ChunkBuffer } from './chunk-buffer.js';
import { executeNode } from './execute-node.js';
import type { NodeContext, RunEvent, RunOptions } from './types.js';

type Records = ReadonlyMap<string, NodeRecord>;

/** Collects the inputs of a target, from its nodes or from the run; each call gets a new reader of a stream. */
function gatherInputs(
  { kind, inputs }: NodeTarget,
  records: Records,
  runInputs: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const gathered: Record<string, unknown> = {};
  for (const [port, wanted] of Object.entries(kind.inputs)) {
    const source = records.get(inputs[port] ?? '');
    if (wanted.stream && source?.stream) gathered[port] = readStream(source.stream.read(), wanted.stream);
    else if (!wanted.stream && source?.output) gathered[port] = source.output.value;
    else if (!inputs[port] && Object.hasOwn(runInputs, port)) gathered[port] = runInputs[port];
  }
  return gathered;
}

function readStream(chunks: AsyncIterable<unknown>, unit: 'chunks' | 'sentences'): AsyncIterable<unknown> {
  return unit === 'chunks' ? chunks : splitSentences(chunks as AsyncIterable<TextChunk>);
}

/** Runs a nested mega service for one attempt of its node. */
export type NestedRunner = (
  definition: MegaServiceDefinition,
  record: NodeRecord,
  context: NodeContext,
) => Promise<unknown> | AsyncIterable<unknown>;

/** Options of {@link NodeExecutor}. */
export interface ExecutorOptions {
  options: RunOptions;
  records: ReadonlyMap<string, NodeRecord>;
  parameters: ReadonlyMap<string, NodeParameters>;
  /** Receives the chunks of the output node. */
  answer: ChunkBuffer;
  runNested: NestedRunner;
  /** Called at the first chunk of a node. */
  onStream: (record: NodeRecord) => void;
  emit: (event: RunEvent) => void;
}

/** Executes single nodes; it does not know their order. */
export class NodeExecutor {
  constructor(private readonly worker: ExecutorOptions) {}

  /** Runs a node with its policies, to the end of its stream if it streams; resolves to its output. */
  async run(record: NodeRecord): Promise<unknown> {
    const { node, scope } = record;
    const { production, from } = await executeNode({
      node,
      launch: (target, fallback) => this.launch(record, target, fallback),
      scope,
      deadline: this.worker.options.deadline,
    });
    record.from = from;
    if (production.kind === 'value') return this.keepValue(record, production.value);
    const target = from === 'fallback' ? (node.fallback ?? node.target) : node.target;
    return this.pump(record, production.stream, target);
  }

  /** Returns the value at a skipped node's passThrough port as its output; undefined if there is not any. */
  bypass(record: NodeRecord): { value: unknown } | { stream: ChunkBuffer } | undefined {
    const { kind, inputs } = record.node.target;
    const port = kind.passThrough;
    const source = port === undefined ? undefined : this.worker.records.get(inputs[port] ?? '');
    if (port === undefined || !source) return undefined;
    if (!kind.inputs[port]?.stream || source.streamedWhole) return this.withoutNode(record, source.output);
    return source.stream && { stream: source.stream };
  }

  private withoutNode(record: NodeRecord, output: NodeRecord['output']): NodeRecord['output'] {
    const { whenSkipped } = record.node.target.kind;
    if (!output || !whenSkipped) return output;
    return { value: whenSkipped(output.value, this.worker.parameters.get(record.node.name)?.target ?? {}) };
  }

  /** Forwards another node's stream as this node's own; if the run stops, it breaks that stream too. */
  async forward(record: NodeRecord, source: ChunkBuffer): Promise<unknown> {
    const buffer = this.openStream(record);
    for await (const chunk of source.read()) buffer.push(chunk);
    return this.closeStream(record, buffer, record.node.target);
  }

  private async pump(record: NodeRecord, stream: OpenStream, target: NodeTarget): Promise<unknown> {
    if (record.scope.reason) stream.discard(record.scope.reason);
    const buffer = this.openStream(record);
    await stream.pump((chunk) => buffer.push(chunk));
    return this.closeStream(record, buffer, target);
  }

  private openStream(record: NodeRecord): ChunkBuffer {
    const isOutput = record.node.name === this.worker.options.definition.output;
    const buffer = isOutput ? this.worker.answer : new ChunkBuffer();
    record.stream = buffer;
    record.markFirstChunk();
    this.worker.onStream(record);
    return buffer;
  }

  /** The answer's buffer stays open until the run has ended. */
  private closeStream(record: NodeRecord, buffer: ChunkBuffer, target: NodeTarget): unknown {
    if (buffer !== this.worker.answer) buffer.end();
    return collectorOf(target)([...buffer.chunks]);
  }

  /** A follower that reads a stream gets a plain output as the only chunk. */
  private keepValue(record: NodeRecord, value: unknown): unknown {
    const isOutput = record.node.name === this.worker.options.definition.output;
    if (!record.node.stream || isOutput) return value;
    record.streamedWhole = true;
    record.stream = new ChunkBuffer();
    record.stream.push(value);
    record.stream.end();
    return value;
  }

  private launch(record: NodeRecord, target: NodeTarget, fallback: boolean): RunningAttempt {
    const attempt = ++record.attempts;
    const { node } = record;
    const { emit, options } = this.worker;
    emit({ type: 'attempt-started', node: node.name, attempt, service: target.service });
    const running = startAttempt({
      node,
      collect: collectorOf(target),
      call: (scope, deadline) =>
        this.call(record, target, this.contextOf({ record, target, fallback, attempt, scope, deadline })),
      scope: record.scope,
      deadline: options.deadline,
    });
    running.production.catch((error: Error) =>
      emit({ type: 'attempt-failed', node: node.name, attempt, error }),
    );
    return running;
  }

  private call(record: NodeRecord, target: NodeTarget, context: NodeContext) {
    const { options, runNested } = this.worker;
    return target.megaService ? runNested(target.megaService, record, context) : options.run(context);
  }

  private contextOf({ record, target, fallback, attempt, scope, deadline }: ContextRequest): NodeContext {
    const { options, records, parameters } = this.worker;
    const own = parameters.get(record.node.name);
    return {
      megaService: options.definition.name,
      node: record.node.name,
      service: target.service,
      inputs: gatherInputs(target, records, options.inputs),
      request: options.request,
      parameters: (fallback ? own?.fallback : own?.target) ?? {},
      get signal() {
        return scope.signal;
      },
      deadline,
      attempt,
      report: (details) => record.report(details),
    };
  }
}

interface ContextRequest {
  record: NodeRecord;
  target: NodeTarget;
  fallback: boolean;
  attempt: number;
  scope: AbortScope;
  deadline: number | undefined;
}
