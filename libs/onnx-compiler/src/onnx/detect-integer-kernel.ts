import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { GraphBuilder, type IntegerKernel } from './graph-builder.js';
import { writeOnnxFile } from './onnx-file.js';

const width = 64;
const expected = width * 255 * 127;

/**
 * Detects whether this machine's uint8 × int8 kernels saturate: multiplies the largest values and compares the sum.
 * Takes a few milliseconds, once per process.
 */
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
