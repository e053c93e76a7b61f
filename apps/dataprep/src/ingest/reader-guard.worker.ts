/** Thread beside a reader: ends the process when it takes too much memory, or when the service that it works for is gone. */
import process from 'node:process';
import { workerData } from 'node:worker_threads';
import type { ReaderLimits } from './prepare-document.js';

const lookEveryMs = 50;
const { maxMemoryBytes } = workerData as ReaderLimits;
const service = process.ppid;

setInterval(() => {
  const isOver = process.memoryUsage.rss() > maxMemoryBytes || process.ppid !== service;
  if (isOver) process.kill(process.pid, 'SIGKILL');
}, lookEveryMs);
