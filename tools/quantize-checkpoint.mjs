/**
 * Writes the checkpoint of a model directory as int8 with a scale a row, a quarter of float32, as models/ holds it.
 * Usage: npm run build && node dist/quantize-checkpoint.js <directory> <target directory>
 */
import { resolve } from 'node:path';
import { quantizeCheckpoint } from '#engine/onnx-compiler';

const [directory, target] = process.argv.slice(2);
if (!directory || !target) {
  console.error('Usage: node dist/quantize-checkpoint.js <directory> <target directory>');
  process.exit(2);
}
await quantizeCheckpoint(resolve(directory), resolve(target));
