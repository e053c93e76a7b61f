import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { GraphBuilder } from './graph-builder.js';
import type { IntegerKernel } from './integer-kernel.js';
import { writeOnnxFile } from './onnx-file.js';

const width = 64;
const expected = width * 255 * 127;

/** Multiplies the largest values and looks at the sum; a few milliseconds, once a process. */
export function detectIntegerKernel(): Promise<IntegerKernel> {
  detected ??= probe();
  return detected;
}
let detected: Promise<IntegerKernel> | undefined;

async function probe(): Promise<IntegerKernel> {
  const folder = await mkdtemp(join(tmpdir(), 'meganest-probe-'));
  try {
    await writeOnnxFile(folder, probeGraph());
    const session = await InferenceSession.create(join(folder, 'model.onnx'), { logSeverityLevel: 3 });
    const input = new Tensor('uint8', new Uint8Array(width).fill(255), [1, width]);
    const { sums } = await session.run({ input });
    await session.release();
    return (sums!.data as Int32Array).every((sum) => sum === expected) ? 'exact' : 'saturating';
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function probeGraph() {
  const graph = new GraphBuilder();
  const input = graph.input('input', 'uint8', ['rows', width]);
  const weight = graph.constant('weight', 'int8', [width, width], () =>
    new Int8Array(width * width).fill(127),
  );
  graph.op('MatMulInteger', [input, weight], { output: 'sums' });
  graph.output('sums', 'int32', ['rows', width]);
  return graph.build('probe');
}
