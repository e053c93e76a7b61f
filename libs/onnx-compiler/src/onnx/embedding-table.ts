import type { GraphBuilder } from './graph-builder.js';
import type { LinearMode } from './linear.js';
import type { Matrix } from './matrix.js';
import { quantiseLazily } from '../quantization/quantise.js';

/** Looks rows of a table up by int64 ids: `[…]` → `[…, columns]`. With int8 weights the table is int8 with a scale a row. */
export function lookUp(graph: GraphBuilder, table: Matrix, ids: string, mode: LinearMode): string {
  const { name, rows, columns } = table;
  if (mode === 'fp32') {
    const constant = graph.constant(`${name}.table`, 'float32', [rows, columns], () => table.read());
    return graph.op('Gather', [constant, ids]);
  }
  const parts = quantiseLazily(table);
  const values = graph.constant(`${name}.table.int8`, 'int8', [rows, columns], parts.values);
  const scales = graph.constant(`${name}.table.scales`, 'float32', [rows, 1], parts.scales);
  const rounded = graph.op('Cast', [graph.op('Gather', [values, ids])], { attributes: { to: 1 } });
  return graph.op('Mul', [rounded, graph.op('Gather', [scales, ids])]);
}
