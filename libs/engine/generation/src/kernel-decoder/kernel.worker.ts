import { workerData } from 'node:worker_threads';
import { kernelsOf, type KernelThreadInput } from './kernels.js';

/** Entry point of a thread that helps with the products of {@link KernelMemory}, until its memory is closed. */
const input = workerData as KernelThreadInput;
kernelsOf(input).serve(input.task);
