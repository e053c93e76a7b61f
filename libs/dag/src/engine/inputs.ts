import type { NodeTarget } from '../definition/types.js';
import type { NodeRecord } from './node-record.js';
import { splitSentences, type TextChunk } from './sentences.js';

type Records = ReadonlyMap<string, NodeRecord>;

/** What arrives at each port of a target; a port for streams gets a reader of its own at each call. */
export function gatherInputs({ kind, inputs }: NodeTarget, records: Records): Record<string, unknown> {
  const gathered: Record<string, unknown> = {};
  for (const [port, wanted] of Object.entries(kind.inputs)) {
    const source = records.get(inputs[port] ?? '');
    if (wanted.stream && source?.stream) gathered[port] = readStream(source.stream.read(), wanted.stream);
    else if (!wanted.stream && source?.output) gathered[port] = source.output.value;
  }
  return gathered;
}

function readStream(chunks: AsyncIterable<unknown>, unit: 'chunks' | 'sentences'): AsyncIterable<unknown> {
  return unit === 'chunks' ? chunks : splitSentences(chunks as AsyncIterable<TextChunk>);
}
