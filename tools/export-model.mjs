/**
 * Copies a model directory with its checkpoint turned into `onnx/model.onnx`, for transformers.js and other runtimes.
 * Usage: npm run build && node dist/export-model.js <directory> <target directory> [fp32|int8]
 */
import { resolve } from 'node:path';
import { exportModel } from '#engine/onnx-compiler';

const [directory, target, weights = 'fp32'] = process.argv.slice(2);
if (!directory || !target || (weights !== 'fp32' && weights !== 'int8')) {
  console.error('Usage: node dist/export-model.js <directory> <target directory> [fp32|int8]');
  process.exit(2);
}
console.log(await exportModel(resolve(directory), resolve(target), weights));
