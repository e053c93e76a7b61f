import { Tensor } from 'onnxruntime-node';
import { describe, expect, it } from 'vitest';
import { freeTensor } from './free-tensor.js';

describe('freeTensor', () => {
  it('frees the memory at once, so that nobody can read it', () => {
    const values = new Float32Array(2 ** 24).fill(1);
    const tensor = new Tensor('float32', values, [2 ** 24]);
    const view = values.subarray(8);
    const before = process.memoryUsage().arrayBuffers;
    freeTensor(tensor);
    expect(before - process.memoryUsage().arrayBuffers).toBeGreaterThan(2 ** 25);
    expect([values.length, view.length]).toEqual([0, 0]);
    expect(() => tensor.data).toThrow('The tensor is disposed');
  });

  it('takes a tensor twice, one without numbers and one of texts', () => {
    const twice = new Tensor('float32', new Float32Array(8), [8]);
    freeTensor(twice);
    for (const tensor of [twice, new Tensor('float32', [], [0]), new Tensor('string', ['a'], [1])]) {
      freeTensor(tensor);
      expect(tensor.location).toBe('none');
    }
  });
});
