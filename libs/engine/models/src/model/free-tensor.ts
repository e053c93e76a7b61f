import { MessageChannel } from 'node:worker_threads';
import type { Tensor } from 'onnxruntime-node';

/** What is sent into a closed port is dropped, and memory that is transferred goes with it. */
const { port1: closedPort } = new MessageChannel();
closedPort.close();

/**
 * Frees the memory of a tensor at once; afterwards the views of its data have a length of 0, and reading `data` throws.
 * Otherwise the garbage collector frees it: each run of a session returns its outputs in new memory, and V8 marks its whole
 * heap each time that a few dozen megabytes have come. `dispose` alone frees only tensors in device memory. A second
 * call does nothing.
 * @param tensor Owns the whole memory of its data, as the outputs of a session do.
 */
export function freeTensor(tensor: Tensor): void {
  if (tensor.location === 'cpu' && ArrayBuffer.isView(tensor.data)) {
    closedPort.postMessage(undefined, [tensor.data.buffer as ArrayBuffer]);
  }
  tensor.dispose();
}
