export { AsyncQueue, eventsOf } from './async-queue.js';
export { PrioritizedQueue, type Priority } from './prioritized-queue.js';
